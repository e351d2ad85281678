/** Questions that a query cannot answer: their intent, and the API operation to use instead */
import { mentionsDeployment } from './deployment-times.ts';
import type { ErrorResponse, Investigated } from './interpretation.ts';
import type { Word } from './words.ts';

type Intent = readonly [phrases: string, refusal: Omit<ErrorResponse, 'nearest'>];

/** What a question wants to be investigated */
export interface InvestigationIntent {
  readonly about: Investigated;
  /** The words that express the intent */
  readonly phrase: string;
  /** Whether a query may answer the question if it names no service: "what happened to container 7" */
  readonly mayBeQuery: boolean;
}

/** Questions that an investigation of a service answers, or one of the whole organization for changes */
const investigations: readonly (readonly [phrases: string, about: Investigated, mayBeQuery?: true])[] = [
  [
    'what changed|what has changed|what have changed|what was changed|what is changed|what is different|what changes|which changes|any changes',
    'changes',
  ],
  [
    'why|root cause|what caused|what causes|what is causing|cause of|causes of|reason for|reasons for|to blame|how come',
    'cause',
  ],
  [
    'what is wrong with|what went wrong with|what is the problem with|what is the matter with|what happened to|what is up with|what is going on with|what is going on in|what is happening with|what is happening in|what is happening to|healthy|unhealthy|doing',
    'cause',
    true,
  ],
];

/** Why a question about causes is rejected if it names no service */
export const causeRefusal: Omit<ErrorResponse, 'nearest'> = {
  code: 'cause',
  reason:
    'causes are found for one service: name it, as in "why is checkout slow", or start from an alert, an anomaly or an incident',
  operation: 'POST /api/ai/root-cause',
};

const intents: readonly Intent[] = [
  [
    'will|forecast|predict|prediction|tomorrow|next week|next month|next hour|next day|run out|going to|how long until|expected to|projected',
    {
      code: 'forecast',
      reason: 'a query cannot predict: use a forecast with a limit and a horizon',
      operation: 'POST /api/ai/forecast',
    },
  ],
  [
    'week over week|day over day',
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
  ['alert|alerts|firing', createElsewhereRefusal('alerts', 'GET /api/alerts')],
  ['incident|incidents', createElsewhereRefusal('incidents', 'GET /api/incidents')],
  ['slo|slos|error budget|burn rate', createElsewhereRefusal('objectives', 'GET /api/slos')],
  ['dashboard|dashboards', createElsewhereRefusal('dashboards', 'GET /api/dashboards')],
  [
    'depend on|depends on|dependencies|dependency|upstream|downstream|who calls|what calls|who is calling|what is calling',
    createElsewhereRefusal('dependencies', 'GET /api/dependencies'),
  ],
  ['new errors|new exceptions|new error types', createElsewhereRefusal('new errors', 'GET /api/errors')],
  ['deployment|deployments|deploys', createElsewhereRefusal('deployments', 'GET /api/events')],
];

function createElsewhereRefusal(subject: string, operation: string): Omit<ErrorResponse, 'nearest'> {
  return { code: 'elsewhere', reason: `${subject} are not telemetry and have their own lists`, operation };
}

const changeRefusal: Omit<ErrorResponse, 'nearest'> = {
  code: 'change',
  reason: 'the question requests a change: questions are read-only',
  operation: null,
};
const peopleRefusal: Omit<ErrorResponse, 'nearest'> = {
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

/** "Who calls payments" is about services, not persons. */
const callers = /^ who (?:calls?|is calling) /;
/** "Slow requests" are the slowest ones, while "is checkout slow" has no number to compare with. */
const slowRecords =
  / slow (?:(?:http|api|database|db|sql|redis|postgres|postgresql|mysql|mongo|mongodb) )?(?:requests?|queries|query|traces?|spans?|calls?|operations?|transactions?) /;

/** "Is checkout ok" is a question about the state of a service. */
const stateQuestion = /^ (?:is|are) .* (ok|okay|fine|all right|alright|in trouble|struggling|misbehaving) $/;

/** "Slow orders" are the slowest requests to the route `/orders`. */
const isSlowPlural = (words: readonly Word[], isKnown: (word: string) => boolean): boolean => {
  const next = words[words.findIndex(({ lower }) => lower === 'slow') + 1];
  return next !== undefined && next.lower !== next.stem && isKnown(next.stem);
};

const joinWords = (words: readonly Word[]): string =>
  ` ${words.map(({ lower }) => lower.replace(/['’](?:s|ll|re)$/, '')).join(' ')} `;

/** Returns what a question wants to be investigated, such as a cause; `undefined` if a query may answer it. */
export const findInvestigationIntent = (questionWords: readonly Word[]): InvestigationIntent | undefined => {
  const words = questionWords.filter(({ is }) => is !== 'quoted' && is !== 'condition');
  if (isCommand(words)) return undefined;
  const joinedWords = ` ${words.map(({ lower }) => lower.replace(/^(what)['’]s$/, '$1 is')).join(' ')} `;
  const [, state] = stateQuestion.exec(joinedWords) ?? [];
  if (state !== undefined) return { about: 'cause', phrase: state, mayBeQuery: true };
  for (const [phrases, about, mayBeQuery = false] of investigations) {
    const phrase = phrases.split('|').find((candidate) => joinedWords.includes(` ${candidate} `));
    if (phrase !== undefined) return { about, phrase, mayBeQuery };
  }
  return undefined;
};

/**
 * Returns why a query cannot answer a question; `undefined` if it can. `isKnown` identifies words of names and
 * values, which express no intent.
 */
export const findIntent = (
  questionWords: readonly Word[],
  isKnown: (word: string) => boolean,
): ErrorResponse | undefined => {
  const words = questionWords.filter(({ is }) => is !== 'quoted' && is !== 'condition');
  if (isCommand(words)) return { ...changeRefusal, nearest: [] };
  const joinedWords = joinWords(words);
  if (words[0]?.lower === 'who' && !callers.test(joinedWords)) return { ...peopleRefusal, nearest: [] };
  const isDeploymentTime = mentionsDeployment(joinedWords);
  const matchingIntent = intents.find(([phrases]) =>
    phrases
      .split('|')
      .some(
        (phrase) =>
          joinedWords.includes(` ${phrase} `) &&
          !(isDeploymentTime && phrase.startsWith('deploy')) &&
          !joinedWords.includes(` how ${phrase} `) &&
          !(phrase === 'slow' && (slowRecords.test(joinedWords) || isSlowPlural(words, isKnown))) &&
          (phrase.includes(' ') || !isKnown(phrase)),
      ),
  );
  return matchingIntent && { ...matchingIntent[1], nearest: [] };
};
