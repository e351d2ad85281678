/** How many questions in plain language are read right, refused, given alternatives of, or read wrongly; and how long one takes. */

import '../../subjects/query-kinds.ts';
import { answerTo } from '../cases/questions/question-case.ts';
import { trades } from '../cases/questions/trades.ts';

const judged = (answer: string | string[], expected: string | readonly string[]): string => {
  if (JSON.stringify(answer) === JSON.stringify(expected)) return 'right';
  if (Array.isArray(answer)) return 'alternatives';
  return answer.startsWith('refused') ? 'refused' : 'wrong';
};

for (const [trade, catalogue, questions] of trades) {
  const counts = { right: 0, refused: 0, alternatives: 0, wrong: 0 } as Record<string, number>;
  const begin = process.cpuUsage();
  for (const [question, expected] of questions) {
    const judgement = judged(answerTo(question, catalogue), expected);
    counts[judgement] = (counts[judgement] ?? 0) + 1;
  }
  const { user, system } = process.cpuUsage(begin);
  console.log(
    trade,
    questions.length,
    counts,
    `${((user + system) / 1000 / questions.length).toFixed(1)} CPU-ms a question`,
  );
}
