/** Something is on its way. */
export function Waiting({ words }: { readonly words: string }) {
  return (
    <p class="waiting" role="status">
      {words}
    </p>
  );
}
