import { useId, useState } from "preact/hooks";
import { newOption } from "./new-option.js";

/** A line to add an option by. */
export function AddOption(props: {
  readonly taken: readonly string[];
  readonly onAdd: (option: string) => void;
}) {
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string>();
  const id = useId();
  const submit = (event: Event): void => {
    event.preventDefault();
    const read = newOption(typed, props.taken);
    setProblem(read.ok ? undefined : read.problem);
    if (!read.ok) return;
    props.onAdd(read.option);
    setTyped("");
  };
  return (
    <form class="add-option" noValidate onSubmit={submit}>
      <label for={id}>Something else?</label>
      <div class="add-option-line">
        <input
          id={id}
          type="text"
          autocomplete="off"
          placeholder="Add an option"
          value={typed}
          aria-invalid={problem !== undefined}
          aria-describedby={problem ? `${id}-problem` : undefined}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="submit" class="button">
          Add
        </button>
      </div>
      {problem && (
        <p class="field-problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
