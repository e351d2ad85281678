/** Queries in templates of rules: Prometheus's function `query`. Rendering is pure, so the results are passed in. */

/** An element of an expression's result vector */
interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export type TextAnswer = { readonly samples: readonly Sample[] } | { readonly error: string };

/** Returns the result of an expression at a time; undefined if it has not been queried yet. */
export type Queried = (expression: string, atMs: number) => TextAnswer | undefined;

/** Runs an expression at a time. Rejects only if the request was aborted. */
export type QueryText = (expression: string, atMs: number) => Promise<TextAnswer>;

/** Maximum number of queries of all texts in one evaluation; equal queries count once. */
const maxQuestions = 50;

interface Question {
  readonly expression: string;
  readonly atMs: number;
}

/** Builds a value with texts, runs the queries in them, and builds it again with the results until no query remains. */
export const withTextAnswers = async <Made>(make: (queried: Queried) => Made, queryText: QueryText): Promise<Made> => {
  const answers = new Map<string, TextAnswer>();
  for (;;) {
    const pending = new Map<string, Question>();
    const made = make((expression, atMs) => {
      const key = `${atMs} ${expression}`;
      const known = answers.get(key);
      if (known !== undefined || pending.has(key)) return known;
      if (answers.size + pending.size >= maxQuestions)
        return { error: `its templates run more than ${maxQuestions} queries at a time` };
      pending.set(key, { expression, atMs });
      return undefined;
    });
    if (pending.size === 0) return made;
    const requests = [...pending].map(
      async ([key, { expression, atMs }]) => [key, await queryText(expression, atMs)] as const,
    );
    for (const [key, answer] of await Promise.all(requests)) answers.set(key, answer);
  }
};
