/** Requests of the page's walks: recorded when a browser closes, and compared with the declared operations. */
import { appendFileSync } from 'node:fs';

/** Environment variable with the path of the file that collects the requests. */
export const pageRequestsVariable = 'TEST_WALKED';

/** Whether a test file is a walk through the page. */
export const isWalk = (path: string): boolean => /end-to-end\/pages?(?:-[a-z-]+)?\.test\.ts$/.test(path);

export interface PageRequest {
  readonly method: string;
  readonly url: string;
}

/** Returns the distinct requests to the API as lines: `GET /api/logs`. */
export const linesOf = (requests: readonly PageRequest[]): string[] => [
  ...new Set(
    requests
      .map(({ method, url }) => ({ method, path: new URL(url).pathname }))
      .filter(({ path }) => /^\/(?:api|auth|ws)\//.test(path))
      .map(({ method, path }) => `${method} ${path}`),
  ),
];

/** Appends requests to the file of this run, if there is one. */
export const recordPageRequests = (requests: readonly PageRequest[]): void => {
  const outputFile = process.env[pageRequestsVariable];
  if (outputFile !== undefined)
    appendFileSync(
      outputFile,
      linesOf(requests)
        .map((line) => `${line}\n`)
        .join(''),
    );
};

/** An implemented operation or stream, with its group. */
export interface Declared {
  readonly group: string;
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
}

/** Returns the declared operation of a line; undefined if no document has it. */
type Find = (line: string) => string | undefined;

/** Returns lines that no document declares, and per group the declared operations that no line matches. */
export const compareWithDeclared = (
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
