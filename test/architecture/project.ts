/** The TypeScript sources of the project, parsed by the compiler. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Node, SourceFile } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Calls `onFile` once for each file of the project and of its page, tests included, with its path from the root. */
export const visitSources = (onFile: (file: string, source: SourceFile) => void): void => {
  const api = new API({ cwd: root });
  const seen = new Set<string>();
  try {
    for (const config of ['tsconfig.json', 'web/tsconfig.json']) {
      const program = api
        .updateSnapshot({ openProject: join(root, config) })
        .getProjects()
        .at(-1)?.program;
      for (const path of program?.getSourceFileNames() ?? []) {
        if (!path.startsWith(root) || path.includes('/node_modules/') || seen.has(path)) continue;
        seen.add(path);
        const source = program?.getSourceFile(path);
        if (source !== undefined) onFile(path.slice(root.length), source);
      }
    }
  } finally {
    api.close();
  }
};

/** Calls `onNode` for a node and everything below it. */
export const visitNodes = (node: Node, onNode: (node: Node) => void): void => {
  onNode(node);
  node.forEachChild((child) => visitNodes(child, onNode));
};
