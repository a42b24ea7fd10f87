/** How a person is shown, from nothing but the principal: everybody shows the same. */
export interface Person {
  readonly principal: string;
  readonly name: string;
  /** Two letters for a small round sign. */
  readonly initials: string;
  /** Hue in degrees. */
  readonly hue: number;
  /** The end of the principal, where principals differ. */
  readonly shortId: string;
}

const FIRST = [
  "Amber",
  "Brisk",
  "Calm",
  "Coral",
  "Dusky",
  "Early",
  "Fair",
  "Gentle",
  "Golden",
  "Hazel",
  "Indigo",
  "Jolly",
  "Keen",
  "Lively",
  "Merry",
  "Misty",
  "Noble",
  "Olive",
  "Patient",
  "Quiet",
  "Rosy",
  "Sandy",
  "Silver",
  "Sunny",
  "Swift",
  "Teal",
  "Velvet",
  "Warm",
  "Wild",
  "Windy",
  "Wise",
  "Zesty",
];
const LAST = [
  "Avocet",
  "Badger",
  "Curlew",
  "Dolphin",
  "Egret",
  "Finch",
  "Gannet",
  "Heron",
  "Ibis",
  "Jay",
  "Kestrel",
  "Lark",
  "Marten",
  "Newt",
  "Otter",
  "Plover",
  "Quail",
  "Robin",
  "Seal",
  "Tern",
  "Urchin",
  "Vole",
  "Wren",
  "Dunlin",
  "Eider",
  "Fulmar",
  "Godwit",
  "Limpet",
  "Mussel",
  "Puffin",
  "Sandpiper",
  "Turnstone",
];

/** A person as a name, a color and a short id. */
export function personOf(principal: string): Person {
  const hash = spread(principal);
  const first = FIRST[hash % FIRST.length] ?? "";
  const last = LAST[(hash >>> 8) % LAST.length] ?? "";
  return {
    principal,
    name: `${first} ${last}`,
    initials: `${first.charAt(0)}${last.charAt(0)}`,
    hue: (hash >>> 16) % 360,
    shortId: `…${principal.slice(-6)}`,
  };
}

/** Whether a text is a principal rather than something that somebody wrote. */
export function isPrincipalText(text: string): boolean {
  return /^did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{40,}$/u.test(text);
}

/** FNV-1a with a final mix, so that neighbouring ids look unlike. */
function spread(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x735a2d97);
  return (hash ^ (hash >>> 13)) >>> 0;
}
