import { parseSync } from "oxc-parser";

/**
 * @typedef {{ kind: "import" | "export-all" | "identifier", text: string, line: number }} Finding
 */

/**
 * Every module specifier, `export *` and identifier of a source, read from its syntax tree: comments and strings that
 * look like imports are none.
 *
 * @param {string} file
 * @param {string} source
 * @returns {Finding[]}
 */
export function readModule(file, source) {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} does not parse: ${errors[0]?.message}`);
  /** @type {Finding[]} */
  const findings = [];
  visit(program, (node) => collect(node, source, findings));
  return findings;
}

/** @param {any} node @param {string} source @param {Finding[]} findings */
function collect(node, source, findings) {
  const at = () => lineOf(source, node.start);
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportNamedDeclaration":
      if (node.source) findings.push({ kind: "import", text: node.source.value, line: at() });
      return;
    case "ExportAllDeclaration":
      findings.push({ kind: "import", text: node.source.value, line: at() });
      findings.push({ kind: "export-all", text: node.source.value, line: at() });
      return;
    case "ImportExpression":
      if (typeof node.source?.value === "string") {
        findings.push({ kind: "import", text: node.source.value, line: at() });
      }
      return;
    case "TSImportType":
      findings.push({ kind: "import", text: importTypeSource(node), line: at() });
      return;
    case "Identifier":
    case "PrivateIdentifier":
      findings.push({ kind: "identifier", text: node.name, line: at() });
      return;
    default:
      return;
  }
}

/** @param {any} node */
function importTypeSource(node) {
  return node.source?.value ?? node.argument?.literal?.value ?? "";
}

/** @param {any} node @param {(node: any) => void} enter */
function visit(node, enter) {
  const stack = [node];
  while (stack.length > 0) {
    const next = stack.pop();
    if (Array.isArray(next)) stack.push(...next);
    else if (next && typeof next === "object") {
      if (typeof next.type === "string") enter(next);
      for (const value of Object.values(next)) {
        if (value && typeof value === "object") stack.push(value);
      }
    }
  }
}

/** @param {string} source @param {number} offset */
function lineOf(source, offset) {
  let line = 1;
  for (let i = 0; i < offset && i < source.length; i++) if (source.charCodeAt(i) === 10) line++;
  return line;
}
