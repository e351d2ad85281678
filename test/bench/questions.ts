/** Questions in plain language: how many are interpreted correctly, refused, ambiguous or wrong, and their time. */

import '../../subjects/query-kinds.ts';
import { personsOfTrades } from '../cases/questions/persons/persons.ts';
import { plainEnglish } from '../cases/questions/plain-english.ts';
import { answerTo, judgeAnswer } from '../cases/questions/question-case.ts';
import { trades } from '../cases/questions/trades.ts';

const ofPersons = personsOfTrades.map(
  ([trade, catalogue, persons]) => [`${trade}, five persons`, catalogue, Object.values(persons).flat()] as const,
);
for (const [trade, catalogue, questions] of [...trades, ...plainEnglish, ...ofPersons]) {
  const counts = { right: 0, refused: 0, alternatives: 0, wrong: 0 } as Record<string, number>;
  const begin = process.cpuUsage();
  for (const [question, expected, previousQuestions] of questions) {
    const judgement = judgeAnswer(
      answerTo(question, catalogue, {
        deployments: 'deployments' in catalogue ? catalogue.deployments : [],
        previousQuestions,
      }),
      expected,
    );
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
