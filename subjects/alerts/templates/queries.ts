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
export type AskText = (expression: string, atMs: number) => Promise<TextAnswer>;

/** Of all texts that are made together; equal questions are one. */
const mostQuestions = 50;

interface Question {
  readonly expression: string;
  readonly atMs: number;
}

/** Makes what has texts in it; asks what they ask, and makes it again with the answers, until nothing is left to ask. */
export const withTextAnswers = async <Made>(make: (queried: Queried) => Made, ask: AskText): Promise<Made> => {
  const answers = new Map<string, TextAnswer>();
  for (;;) {
    const wanted = new Map<string, Question>();
    const made = make((expression, atMs) => {
      const key = `${atMs} ${expression}`;
      const known = answers.get(key);
      if (known !== undefined || wanted.has(key)) return known;
      if (answers.size + wanted.size >= mostQuestions)
        return { error: `its texts ask more than ${mostQuestions} queries at a time` };
      wanted.set(key, { expression, atMs });
      return undefined;
    });
    if (wanted.size === 0) return made;
    const asked = [...wanted].map(async ([key, { expression, atMs }]) => [key, await ask(expression, atMs)] as const);
    for (const [key, answer] of await Promise.all(asked)) answers.set(key, answer);
  }
};
