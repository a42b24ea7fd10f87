import type { PieceHandle } from "@tidemark/client";
import { PayloadForm } from "../form/payload-form.js";
import { useLive } from "../live/use-live.js";
import type { NodeView } from "./nodes.js";
import { ValueView } from "./value-view.js";

const KINDS: Readonly<Record<NodeView["kind"], string>> = {
  cell: "kept",
  computed: "worked out",
  list: "list",
  effect: "asked for",
  sender: "worked out",
  handler: "action",
};

/** Everything in a piece: what it shows, live, and a form for everything that can be done with it. */
export function PieceParts(props: {
  readonly piece: PieceHandle;
  readonly nodes: readonly NodeView[];
}) {
  const { piece } = props;
  const values = props.nodes.filter(({ kind }) => kind !== "handler");
  const handlers = props.nodes.filter(({ kind }) => kind === "handler");
  return (
    <>
      <section aria-label="What it shows">
        <h2>What it shows</h2>
        {values.length === 0 && <p class="empty">Nothing.</p>}
        <dl class="parts">
          {values.map((node) => (
            <PartRow key={node.name} piece={piece} node={node} />
          ))}
        </dl>
      </section>
      <section aria-label="What can be done">
        <h2>What can be done</h2>
        {handlers.length === 0 && <p class="empty">Nothing: it is only there to be looked at.</p>}
        <div class="forms">
          {handlers.map((node) => (
            <PayloadForm
              key={node.name}
              title={node.title}
              description={node.description}
              schema={node.schema}
              fire={(payload) => piece.dispatch(node.name, payload)}
            />
          ))}
        </div>
      </section>
    </>
  );
}

function PartRow({ piece, node }: { readonly piece: PieceHandle; readonly node: NodeView }) {
  const { value, pending } = useLive(piece.get(node.name));
  return (
    <div class="part" data-part={node.name}>
      <dt>
        {node.title} <span class="part-kind">{KINDS[node.kind]}</span>
      </dt>
      <dd>
        {pending ? (
          <span class="quiet">on its way…</span>
        ) : (
          <ValueView value={value ?? node.initial} />
        )}
      </dd>
    </div>
  );
}
