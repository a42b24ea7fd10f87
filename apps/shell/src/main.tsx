import "./no-eval.js";
import { systemRandom } from "@tidemark/protocol";
import { render } from "preact";
import { App } from "./app/app.js";
import { tabSession, type TabLocks } from "./identity/tab-session.js";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/people.css";
import "./styles/forms.css";
import "./styles/poll.css";
import "./styles/values.css";

async function main(): Promise<void> {
  const root = document.querySelector("#app");
  if (root === null) throw new Error("the page has no #app to show itself in");
  const stores = { browser: localStorage, tab: sessionStorage };
  // Absent where the page is not from a secure origin.
  const locks = navigator.locks as TabLocks | undefined;
  const sessionId = await tabSession(stores.tab, locks, systemRandom);
  render(<App stores={stores} sessionId={sessionId} />, root);
}

void main();
