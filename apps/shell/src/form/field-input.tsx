import type { Field } from "./schema.js";

type Typed = string | boolean | undefined;

interface InputProps {
  readonly id: string;
  readonly field: Field;
  readonly typed: Typed;
  readonly problem: string | undefined;
  readonly onTyped: (typed: string | boolean) => void;
}

/** One input with its label, its explanation and what is wrong with it. */
export function FieldInput(props: InputProps) {
  const { id, field, problem } = props;
  if (field.kind === "switch") {
    return (
      <label class="field field-switch">
        <Control {...props} />
        <span>{field.label}</span>
      </label>
    );
  }
  return (
    <div class="field">
      <label for={id}>
        {field.label}
        {!field.required && <span class="quiet"> (optional)</span>}
      </label>
      {field.description && (
        <p class="quiet" id={`${id}-about`}>
          {field.description}
        </p>
      )}
      <Control {...props} />
      {problem && (
        <p class="field-problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  );
}

function Control({ id, field, typed, problem, onTyped }: InputProps) {
  const text = typeof typed === "string" ? typed : "";
  const common = {
    id,
    "aria-invalid": problem !== undefined,
    "aria-describedby": problem ? `${id}-problem` : field.description ? `${id}-about` : undefined,
  };
  const follow = (event: { readonly currentTarget: { readonly value: string } }): void =>
    onTyped(event.currentTarget.value);
  switch (field.kind) {
    case "switch":
      return (
        <input
          {...common}
          type="checkbox"
          checked={typed === true}
          onChange={(event) => onTyped(event.currentTarget.checked)}
        />
      );
    case "choice":
      return (
        <select {...common} value={text} onChange={follow}>
          <option value="">Choose…</option>
          {field.choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      );
    case "long-text":
    case "lines":
    case "json":
      return <textarea {...common} rows={3} value={text} onInput={follow} />;
    default:
      return (
        <input
          {...common}
          type="text"
          inputMode={field.kind === "number" ? "decimal" : undefined}
          autocomplete="off"
          value={text}
          onInput={follow}
        />
      );
  }
}
