/** What texts of rules ask: the function `query` of Prometheus' templates. Filling in is pure, so answers come from outside. */

/** An element of the vector that an expression gives. */
interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export type TextAnswer = { readonly samples: readonly Sample[] } | { readonly error: string };

/** The answer to an expression at a time; undefined where it has not been asked yet. */
export type Queried = (expression: string, atMs: number) => TextAnswer | undefined;

/** Asks an expression at a time. Never rejects but where nobody waits any more. */
export type QueryText = (expression: string, atMs: number) => Promise<TextAnswer>;

/** Of all texts that are made together; equal questions are one. */
const maxQuestions = 50;

interface Question {
  readonly expression: string;
  readonly atMs: number;
}

/** Makes what has texts in it; asks what they ask, and makes it again with the answers, until nothing is left to ask. */
export const withTextAnswers = async <Made>(make: (queried: Queried) => Made, queryText: QueryText): Promise<Made> => {
  const answers = new Map<string, TextAnswer>();
  for (;;) {
    const pending = new Map<string, Question>();
    const made = make((expression, atMs) => {
      const key = `${atMs} ${expression}`;
      const known = answers.get(key);
      if (known !== undefined || pending.has(key)) return known;
      if (answers.size + pending.size >= maxQuestions)
        return { error: `its texts ask more than ${maxQuestions} queries at a time` };
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
