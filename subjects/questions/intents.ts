/** Questions that a query cannot answer: their intent, and the API operation to use instead */
import type { Refusal } from './interpretation.ts';
import type { Word } from './words.ts';

type Intent = readonly [phrases: string, refusal: Omit<Refusal, 'nearest'>];

const intents: readonly Intent[] = [
  [
    'why|root cause|what caused|what causes|what is causing|cause of|causes of|reason for|reasons for|to blame',
    {
      code: 'cause',
      reason:
        'a query cannot find causes: start a root cause analysis from an alert, an anomaly, an incident, or a service and a range',
      operation: 'POST /api/ai/root-cause',
    },
  ],
  [
    'will|forecast|predict|prediction|tomorrow|next week|next month|next hour|next day|run out|going to|how long until|expected to|projected',
    {
      code: 'forecast',
      reason: 'a query cannot predict: use a forecast with a limit and a horizon',
      operation: 'POST /api/ai/forecast',
    },
  ],
  [
    'compared to|compared with|compare|versus|vs|than yesterday|than last|week over week|day over day|difference between|in comparison',
    {
      code: 'comparison',
      reason: 'a query has one range: run a separate query for each range',
      operation: null,
    },
  ],
  [
    'unusual|anomaly|anomalies|anomalous|abnormal|weird|strange|suspicious|outlier|outliers|normal',
    {
      code: 'anomaly',
      reason: 'unusual values are detected from the history of a series: use an anomaly query',
      operation: 'POST /api/ai/detect',
    },
  ],
  [
    'slow|slowly|sluggish|healthy|unhealthy|bad|good|too many|too much|huge|heavy|how is|ok',
    {
      code: 'unclear',
      reason: 'the comparison has no number: write for example "slower than 500 ms", or name an aggregation',
      operation: null,
    },
  ],
  [
    'what changed|what has changed|what was changed|what is different',
    createElsewhereRefusal('changes', 'GET /api/events'),
  ],
  ['alert|alerts|firing', createElsewhereRefusal('alerts', 'GET /api/alerts')],
  ['incident|incidents', createElsewhereRefusal('incidents', 'GET /api/incidents')],
  ['slo|slos|error budget|burn rate', createElsewhereRefusal('objectives', 'GET /api/slos')],
  ['dashboard|dashboards', createElsewhereRefusal('dashboards', 'GET /api/dashboards')],
  ['deployment|deployments|deploys', createElsewhereRefusal('deployments', 'GET /api/events')],
];

function createElsewhereRefusal(subject: string, operation: string): Omit<Refusal, 'nearest'> {
  return { code: 'elsewhere', reason: `${subject} are not telemetry and have their own lists`, operation };
}

const changeRefusal: Omit<Refusal, 'nearest'> = {
  code: 'change',
  reason: 'the question requests a change: questions are read-only',
  operation: null,
};
const peopleRefusal: Omit<Refusal, 'nearest'> = {
  code: 'elsewhere',
  reason: 'telemetry does not record who did something; the audit log records who changed what in OIQ',
  operation: 'GET /api/audit',
};
const commandVerbs: ReadonlySet<string> = new Set(
  `delete remove drop erase purge truncate create add insert update set change modify edit disable enable restart reboot stop start kill scale deploy
  rollback roll silence mute acknowledge ack close resolve alter grant revoke rename replace send notify clear reset execute install terminate shut turn rotate fix repair undo`.split(
    /\s+/,
  ),
);
const politeWords: ReadonlySet<string> = new Set([
  'please',
  'can',
  'could',
  'would',
  'will',
  'you',
  'kindly',
  'now',
  'just',
  'go',
  'ahead',
  'and',
  'then',
  'to',
  'i',
  'want',
  'us',
  'let',
  "let's",
]);
/** Words after which a verb begins a command: "show the logs and delete them". */
const commandIntroWords: ReadonlySet<string> = new Set(['and', 'then', 'please', ';', ',']);

const isCommand = (words: readonly Word[]): boolean => {
  const firstWordIndex = words.findIndex(({ lower }) => !politeWords.has(lower));
  return words.some(
    ({ lower, text }, index) =>
      commandVerbs.has(lower) &&
      text !== text.toUpperCase() &&
      (index === firstWordIndex || commandIntroWords.has(words[index - 1]?.lower ?? '')),
  );
};

/**
 * Returns why a query cannot answer a question; `undefined` if it can. `isKnown` identifies words of names and
 * values, which express no intent.
 */
export const findIntent = (questionWords: readonly Word[], isKnown: (word: string) => boolean): Refusal | undefined => {
  const words = questionWords.filter(({ is }) => is !== 'quoted' && is !== 'condition');
  if (isCommand(words)) return { ...changeRefusal, nearest: [] };
  if (words[0]?.lower === 'who') return { ...peopleRefusal, nearest: [] };
  const joinedWords = ` ${words.map(({ lower }) => lower.replace(/['’](?:s|ll|re)$/, '')).join(' ')} `;
  const matchingIntent = intents.find(([phrases]) =>
    phrases
      .split('|')
      .some(
        (phrase) =>
          joinedWords.includes(` ${phrase} `) &&
          !joinedWords.includes(` how ${phrase} `) &&
          (phrase.includes(' ') || !isKnown(phrase)),
      ),
  );
  return matchingIntent && { ...matchingIntent[1], nearest: [] };
};
