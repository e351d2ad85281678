/**
 * Queries in templates of rules: the function `query` of Prometheus. Rendering is synchronous, so query results are
 * passed in.
 */

/** An element of the vector that an expression returns. */
interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export type TemplateQueryResult = { readonly samples: readonly Sample[] } | { readonly error: string };

/** Returns the result of an expression at a time; undefined if it has not been queried yet. */
export type QueryResultLookup = (expression: string, atMs: number) => TemplateQueryResult | undefined;

/** Runs an expression at a time. Rejects only if the request was aborted. */
export type RunTemplateQuery = (expression: string, atMs: number) => Promise<TemplateQueryResult>;

/** Maximum number of template queries in one evaluation; equal queries count once. */
const maxQueries = 50;

interface PendingQuery {
  readonly expression: string;
  readonly atMs: number;
}

/**
 * Renders templates, runs the queries in them, and renders them again with the results until every query has a result.
 */
export const renderWithQueries = async <Rendered>(
  render: (lookup: QueryResultLookup) => Rendered,
  runQuery: RunTemplateQuery,
): Promise<Rendered> => {
  const results = new Map<string, TemplateQueryResult>();
  for (;;) {
    const pending = new Map<string, PendingQuery>();
    const rendered = render((expression, atMs) => {
      const key = `${atMs} ${expression}`;
      const cachedResult = results.get(key);
      if (cachedResult !== undefined || pending.has(key)) return cachedResult;
      if (results.size + pending.size >= maxQueries)
        return { error: `its templates run more than ${maxQueries} queries at a time` };
      pending.set(key, { expression, atMs });
      return undefined;
    });
    if (pending.size === 0) return rendered;
    const requests = [...pending].map(
      async ([key, { expression, atMs }]) => [key, await runQuery(expression, atMs)] as const,
    );
    for (const [key, result] of await Promise.all(requests)) results.set(key, result);
  }
};
