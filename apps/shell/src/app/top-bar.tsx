import { WhoAmI } from "../identity/who-am-i.js";
import { useTab } from "./tab.js";

/** The name of the place, and who is here. */
export function TopBar(props: {
  readonly onlyThisTab: boolean;
  readonly onSomeoneElse: () => void;
  readonly onMyself: () => void;
}) {
  const { client, principal } = useTab();
  return (
    <header class="top">
      <a class="brand" href="#/">
        <img src="/tidemark.svg" alt="" width="28" height="28" />
        Tidemark
      </a>
      <WhoAmI
        key={principal}
        principal={principal}
        onlyThisTab={props.onlyThisTab}
        unsent={() => client.queuedEvents}
        onSomeoneElse={props.onSomeoneElse}
        onMyself={props.onMyself}
      />
    </header>
  );
}
