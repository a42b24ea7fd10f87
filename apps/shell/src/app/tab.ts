import type { Client } from "@tidemark/client";
import type { Principal } from "@tidemark/protocol";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Meta } from "../meta/meta.js";

/** What every part of the page may need. */
export interface Tab {
  readonly client: Client;
  readonly principal: Principal;
  /** What the server says of itself; `undefined` until it has been reached. */
  readonly meta: Meta | undefined;
}

export const TabContext = createContext<Tab | undefined>(undefined);

/** The tab that a part of the page is in. */
export function useTab(): Tab {
  const tab = useContext(TabContext);
  if (tab === undefined) throw new Error("this part of the page stands outside of a tab");
  return tab;
}
