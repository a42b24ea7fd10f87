import type { Trouble } from "../words/error-words.js";

/** A page that says why there is nothing else on it. */
export function Notice({ trouble }: { readonly trouble: Trouble }) {
  return (
    <section class="card notice" role="status">
      <svg viewBox="0 0 64 32" width="96" height="48" aria-hidden="true">
        <path d="M2 12c7-8 13-8 20 0s13 8 20 0 13-8 20 0M2 24c7-8 13-8 20 0s13 8 20 0 13-8 20 0" />
      </svg>
      <h1>{trouble.title}</h1>
      <p>{trouble.words}</p>
      <p>
        <a href="#/">Go to the start</a>
      </p>
    </section>
  );
}
