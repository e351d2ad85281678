/** What walks through the page asked of the API: told as the browser of each closes, and held against what is declared. */
import { appendFileSync } from 'node:fs';

/** The environment's variable that says in which file they tell it. */
export const walkedVariable = 'TEST_WALKED';

/** Whether a file of tests walks through the page. */
export const isWalk = (path: string): boolean => /end-to-end\/pages?(?:-[a-z-]+)?\.test\.ts$/.test(path);

export interface WalkedRequest {
  readonly method: string;
  readonly url: string;
}

/** Requests to the API as lines, each once: `GET /api/logs`. */
export const linesOf = (requests: readonly WalkedRequest[]): string[] => [
  ...new Set(
    requests
      .map(({ method, url }) => ({ method, path: new URL(url).pathname }))
      .filter(({ path }) => /^\/(?:api|auth|ws)\//.test(path))
      .map(({ method, path }) => `${method} ${path}`),
  ),
];

/** Adds what was asked to the file of this run, where there is one. */
export const recordWalked = (requests: readonly WalkedRequest[]): void => {
  const outputFile = process.env[walkedVariable];
  if (outputFile !== undefined)
    appendFileSync(
      outputFile,
      linesOf(requests)
        .map((line) => `${line}\n`)
        .join(''),
    );
};

/** An operation or a stream that works, by the name of its group. */
export interface Declared {
  readonly group: string;
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
}

/** Which of the declared ones a line is; undefined for what no document has. */
type Find = (line: string) => string | undefined;

/** Lines that are in no document, and for each group what it has that no line reached. */
export const heldAgainst = (
  lines: readonly string[],
  declared: readonly Declared[],
  find: Find,
): { readonly undeclared: readonly string[]; readonly unreached: readonly string[] } => {
  const reached = new Set(lines.map(find));
  const groups = Map.groupBy(declared, ({ group }) => group);
  return {
    undeclared: [...new Set(lines.filter((line) => find(line) === undefined))],
    unreached: [...groups].flatMap(([group, all]) => {
      const left = all.filter(({ operationId }) => !reached.has(operationId)).map(({ operationId }) => operationId);
      if (left.length === 0) return [];
      return [
        left.length === all.length
          ? `${group}, all ${all.length}`
          : `${group}, ${left.length} of ${all.length}: ${left.join(', ')}`,
      ];
    }),
  };
};
