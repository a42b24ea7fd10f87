import { PersonChip } from "../identity/person-chip.js";
import { isPrincipalText } from "../identity/person.js";
import { spoken } from "../form/schema.js";
import { tableRows, type TableRows } from "./table-rows.js";

const MAX_DEPTH = 5;
const MAX_ROWS = 100;

/** Any value, as a person reads it. */
export function ValueView({
  value,
  depth = 0,
}: {
  readonly value: unknown;
  readonly depth?: number;
}) {
  if (value === undefined || value === null) return <span class="quiet">nothing</span>;
  if (typeof value === "boolean") return <>{value ? "yes" : "no"}</>;
  if (typeof value === "number") return <span class="number">{value}</span>;
  if (typeof value === "string") return <TextView text={value} />;
  if (depth >= MAX_DEPTH) return <code>{JSON.stringify(value)}</code>;
  if (Array.isArray(value)) return <ListView items={value as unknown[]} depth={depth} />;
  return <ObjectView entries={Object.entries(value as object)} depth={depth} />;
}

function TextView({ text }: { readonly text: string }) {
  if (text === "") return <span class="quiet">empty</span>;
  return isPrincipalText(text) ? <PersonChip principal={text} /> : <span class="text">{text}</span>;
}

function ListView({
  items,
  depth,
}: {
  readonly items: readonly unknown[];
  readonly depth: number;
}) {
  if (items.length === 0) return <span class="quiet">empty</span>;
  const table = tableRows(items.slice(0, MAX_ROWS));
  if (table !== undefined) return <TableView table={table} more={items.length - MAX_ROWS} />;
  return (
    <ol class="value-list">
      {items.slice(0, MAX_ROWS).map((item, at) => (
        <li key={at}>
          <ValueView value={item} depth={depth + 1} />
        </li>
      ))}
      {items.length > MAX_ROWS && <li class="quiet">and {items.length - MAX_ROWS} more</li>}
    </ol>
  );
}

function ObjectView(props: {
  readonly entries: readonly (readonly [string, unknown])[];
  readonly depth: number;
}) {
  if (props.entries.length === 0) return <span class="quiet">empty</span>;
  return (
    <dl class="value-object">
      {props.entries.slice(0, MAX_ROWS).map(([name, part]) => (
        <div key={name}>
          <dt>
            <TextView text={name} />
          </dt>
          <dd>
            <ValueView value={part} depth={props.depth + 1} />
          </dd>
        </div>
      ))}
      {props.entries.length > MAX_ROWS && (
        <div class="quiet">and {props.entries.length - MAX_ROWS} more</div>
      )}
    </dl>
  );
}

function TableView({ table, more }: { readonly table: TableRows; readonly more: number }) {
  return (
    <>
      <div class="value-scroll">
        <table class="value-table">
          <thead>
            <tr>
              {table.columns.map((column) => (
                <th key={column} scope="col">
                  {spoken(column)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row, at) => (
              <tr key={at}>
                {row.map((part, column) => (
                  <td key={column}>
                    <ValueView value={part} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more > 0 && <p class="quiet">and {more} more</p>}
    </>
  );
}
