/** How one value is asked for. */
export type FieldKind = "text" | "long-text" | "number" | "switch" | "choice" | "lines" | "json";

/** One input of a form. */
export interface Field {
  /** The key in the payload; `undefined` where the payload itself is this value. */
  readonly key: string | undefined;
  readonly label: string;
  readonly description: string | undefined;
  readonly kind: FieldKind;
  readonly required: boolean;
  readonly initial: unknown;
  readonly choices: readonly string[];
  readonly integer: boolean;
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly minLength: number;
  readonly maxLength: number | undefined;
}

/** The keywords of JSON Schema that forms know. */
interface Schema {
  readonly type?: unknown;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly default?: unknown;
  readonly enum?: unknown;
  readonly const?: unknown;
  readonly properties?: unknown;
  readonly required?: unknown;
  readonly items?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly exclusiveMinimum?: unknown;
  readonly minLength?: unknown;
  readonly maxLength?: unknown;
}

/** Texts that may be longer than this get more than one line. */
const LONG_TEXT = 200;

/**
 * The inputs for a payload, from its JSON Schema. A schema that asks for nothing gives no input: the form is a button.
 * What the form does not know it asks for as JSON.
 */
export function fieldsOf(schema: unknown): readonly Field[] {
  if (!isSchema(schema)) return [];
  if (schema.type === "object" && isSchema(schema.properties)) {
    const required = Array.isArray(schema.required) ? (schema.required as unknown[]) : [];
    return Object.entries(schema.properties).map(([key, part]) =>
      fieldOf(key, isSchema(part) ? part : {}, required.includes(key)),
    );
  }
  if (schema.type === "null" || !("type" in schema || "enum" in schema || "anyOf" in schema))
    return [];
  return [fieldOf(undefined, schema, true)];
}

function fieldOf(key: string | undefined, schema: Schema, required: boolean): Field {
  return {
    key,
    label: text(schema.title) ?? (key === undefined ? "Value" : spoken(key)),
    description: text(schema.description),
    kind: kindOf(schema),
    required,
    initial: schema.default,
    choices: choicesOf(schema),
    integer: schema.type === "integer",
    min: number(schema.minimum) ?? number(schema.exclusiveMinimum),
    max: number(schema.maximum),
    minLength: number(schema.minLength) ?? 0,
    maxLength: number(schema.maxLength),
  };
}

function kindOf(schema: Schema): FieldKind {
  if (choicesOf(schema).length > 0) return "choice";
  switch (schema.type) {
    case "string":
      return (number(schema.maxLength) ?? 0) > LONG_TEXT ? "long-text" : "text";
    case "number":
    case "integer":
      return "number";
    case "boolean":
      return "switch";
    case "array":
      return isSchema(schema.items) && schema.items.type === "string" ? "lines" : "json";
    default:
      return "json";
  }
}

function choicesOf({ enum: values }: Schema): readonly string[] {
  if (!Array.isArray(values)) return [];
  return (values as unknown[]).every((value) => typeof value === "string")
    ? (values as string[])
    : [];
}

/** `addOption` and `add_option` as a person says it. */
export function spoken(name: string): string {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/gu, "$1 $2").replaceAll(/[_\-.:]+/gu, " ");
  const lower = words.trim().toLowerCase();
  return lower.charAt(0).toUpperCase() + lower.slice(1);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function number(value: unknown): number | undefined {
  // zod puts the bounds of a safe integer where nothing was said.
  return typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined;
}
