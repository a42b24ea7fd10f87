import { useEffect } from "preact/hooks";
import { SpacePage } from "../space/space-page.js";
import { BROKEN_LINK } from "../words/error-words.js";
import { HomePage } from "./home-page.js";
import { Notice } from "./notice.js";
import type { Route } from "./route.js";

/** What the address names. */
export function Page({ route }: { readonly route: Route }) {
  useEffect(() => {
    document.title = "Tidemark";
  }, [route]);
  switch (route.page) {
    case "home":
      return <HomePage />;
    case "unknown":
      return <Notice trouble={BROKEN_LINK} />;
    case "space":
      return <SpacePage key={route.space} id={route.space} piece={undefined} />;
    case "piece":
      return <SpacePage key={route.space} id={route.space} piece={route.piece} />;
  }
}
