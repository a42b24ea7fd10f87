import type { FiredEvent } from "@tidemark/client";
import { useId, useMemo, useState } from "preact/hooks";
import { OutcomeLine } from "../outcome/outcome-line.js";
import { acted } from "../settled/use-activity.js";
import { FieldInput } from "./field-input.js";
import { emptyDraft, inputName, readDraft } from "./payload.js";
import { fieldsOf } from "./schema.js";

/** A form made from the schema of a handler's payload, with what became of the last event it sent. */
export function PayloadForm(props: {
  readonly title: string;
  readonly description: string | undefined;
  readonly schema: unknown;
  readonly fire: (payload: unknown) => FiredEvent;
}) {
  const fields = useMemo(() => fieldsOf(props.schema), [props.schema]);
  const [draft, setDraft] = useState(() => emptyDraft(fields));
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [event, setEvent] = useState<FiredEvent>();
  const id = useId();
  const submit = (submitted: Event): void => {
    submitted.preventDefault();
    const read = readDraft(fields, draft);
    setProblems(read.ok ? {} : read.problems);
    if (!read.ok) {
      // What became of the last one is no word on this one.
      setEvent((last) => (last?.outcome === undefined ? last : undefined));
      return;
    }
    setEvent(props.fire(read.payload));
    setDraft(emptyDraft(fields));
    acted();
  };
  return (
    <form class="form" aria-labelledby={`${id}-title`} noValidate onSubmit={submit}>
      <h3 id={`${id}-title`}>{props.title}</h3>
      {props.description && <p class="quiet">{props.description}</p>}
      {fields.map((field) => {
        const name = inputName(field);
        return (
          <FieldInput
            key={name}
            id={`${id}-${name}`}
            field={field}
            typed={draft[name]}
            problem={problems[name]}
            onTyped={(typed) => setDraft({ ...draft, [name]: typed })}
          />
        );
      })}
      <div class="form-end">
        <button type="submit" class="button">
          {fields.length === 0 ? props.title : "Send"}
        </button>
        <OutcomeLine event={event} troubleOnly={Object.keys(problems).length > 0} />
      </div>
    </form>
  );
}
