/** Words with a meaning that is independent of the tenant's data */
import { adjectivePhrases } from './adjectives.ts';
import type { Mark, Noun, Operator } from './marks.ts';
import { toStem } from './words.ts';

const splitPhrases = (phrases: string): string[] => phrases.split('|');

const createMeasureMark = (name: 'avg' | 'min' | 'max' | 'sum' | 'rate'): Mark => ({
  is: 'figure',
  measure: { function: name },
});
const createNounMark = (noun: Noun): Mark => ({ is: 'noun', noun });
const createSeverityMark = (search: string): Mark => ({
  is: 'condition',
  condition: { search: `severity:${search}`, field: 'severity' },
});

/** For all telemetry signals, including metrics */
const sharedPhrases: readonly (readonly [phrases: string, mark: Mark])[] = [
  [
    `a|an|the|of|in|on|for|to|from|at|is|are|was|were|be|been|being|did|do|does|done|has|had|have|having|there|me|my|our|we|us|i|you|your|
    please|can|could|would|should|want|need|like|know|see|look|looking|tell|it|its|their|they|them|these|those|this|that|what's|whats|how|
    during|within|all|any|get|got|getting|with|where|whose|who|only|just|then|so|now|here|during|come|came|coming|happen|happened|happening|occur|occurred|
    write|wrote|written|send|sent|produce|produced|emit|emitted|make|made|record|recorded|serve|served|handle|handled|receive|received|process|processed|
    return|returned|answer|answered|respond|responded|see|seen|take|took|taken|look like|kind|value|values|
    data|amount|system|application|went|go|goes|as|every single|each of|hi|hello|hey|thanks|currently seen|find out|about|result|results|everything|something|anything|ones|details|each of them|please|together|overall|
    appear|appears|appeared|appearing|instead|same|again|as|what about|how about|break|split|group|throw|throws|threw|thrown|raise|raised|report|reported|generate|generated|so far|up to now|until now|till now|recent|recently|used|use|uses|using|
    api|through|via|against|involving|touching|touch|touched|hit|hitting|regarding|concerning|include|including|includes|saw|experience|experienced|face|faced|encounter|encountered|say about|says about|said about|related to|coming from|belonging to|in minutes|in seconds|in milliseconds|in hours|in bytes|in megabytes|in gigabytes|in percent|right|shortly|found|detected|observed|noticed|counted|measured|because of|due to|send back|sent back|sending back|give back|gave back`,
    { is: 'noise' },
  ],
  ['average|mean|avg|averaged|on average|typical|typically|averages|usual', createMeasureMark('avg')],
  [`minimum|min|smallest|${adjectivePhrases.smallest}`, createMeasureMark('min')],
  [
    `maximum|max|peak|peaks|largest|biggest|greatest|top value|worst value|${adjectivePhrases.largest}`,
    createMeasureMark('max'),
  ],
  ['shortest', { is: 'figure', measure: { function: 'min' }, isLongest: true }],
  ['longest', { is: 'figure', measure: { function: 'max' }, isLongest: true }],
  ['median', { is: 'figure', measure: { function: 'percentile', percentile: 50 } }],
  ['sum|summed|sum of|added up', createMeasureMark('sum')],
  ['total', { is: 'total' }],
  ['rate|per second|a second|every second|each second|rate per second|by second', createMeasureMark('rate')],
  [
    'how many|how many times|number of times|number|numbers|count|counts|counting|how often|how frequently|volume|amount of|quantity|how much|what number of|tally|tally of|tell me how many|total number of|total count of',
    { is: 'count' },
  ],
  ['different|distinct|unique|separate|individual', { is: 'distinct' }],
  [
    'share|percentage|percent|proportion|portion|fraction|ratio|what percent|what share|what part|part of|% of|%',
    { is: 'share' },
  ],
  ['current|currently|right now|latest value|at the moment|last value', { is: 'current' }],
  ['per|for each|for every|each|in each|on each|every|separately for', { is: 'group', isEach: true }],
  [
    'by|grouped by|group by|split by|broken out by|separated by|one line per|cut by|split by|broken down by|break down by|across|according to|grouped per|distribution of|breakdown of|breakdown by|distributed by|break it down by|break that down by|break them down by|split it by|split that by|split them by|group it by|group that by|group them by',
    { is: 'group' },
  ],
  ['across all|over all|for all|of all', { is: 'all' }],
  ['which|what|which of the', { is: 'which' }],
  ['show|list|display|find|give|print|fetch|search|show me|give me|what are', { is: 'list' }],
  ['or', { is: 'or' }],
  ['and|as well as|plus|also|nor', { is: 'and' }],
  [
    'change|changed|changing|gone up|gone down|go up|go down|went up|went down|increased|decreased|risen|fallen|dropped|grown|growing|rising|falling|dropping|increasing|decreasing|increase|decrease|grow|rise|fall|drop|climbing|spike|spiked',
    { is: 'trend' },
  ],
  ['both', { is: 'both' }],
  [
    'compare|compared|comparing|compared with|compared to|versus|vs|comparison of|comparison between|difference between|in comparison with|in comparison to|against each other|side by side',
    { is: 'compare' },
  ],
  [
    "not|neither|no|except|excluding|without|other than|besides|but not|isn't|aren't|didn't|doesn't|don't|hasn't|haven't|wasn't|weren't|is not|are not|not from|apart from|outside|exclude|ignore|ignoring|leave out|leaving out",
    { is: 'not' },
  ],
  [
    'over time|as a chart|as a graph|as a line|trend|trends|trending|graph|chart|plot|timeline|time series|history|develop|developed|evolve|evolved|evolution',
    { is: 'overTime' },
  ],
  ['as a table|in a table|as table|table form|without steps', { is: 'table' }],
  ['slowest|most sluggish', { is: 'slowest' }],
  ['fastest|quickest', { is: 'fastest' }],
  ['when', { is: 'when' }],
  [
    'most|top|busiest|worst|the most|more|rank|ranking of|ranked by|rank by|order by|ordered by|sorted by|sort by|largest number of|most often|most frequent|most common|most popular|most used|most active|noisiest|biggest number of|highest number of',
    { is: 'most' },
  ],
  ['highest', { is: 'most', isExtreme: true }],
  ['least|fewest|bottom|least often|rarest|lowest number of|smallest number of', { is: 'least' }],
  ['lowest', { is: 'least', isExtreme: true }],
  [
    'latest|newest|most recent|last|newest first|latest first|most recent first|last first|recent first|newest to oldest|newest at the top|latest at the top',
    { is: 'newest' },
  ],
  [
    'oldest|first|earliest|oldest first|earliest first|first ones first|oldest to newest|oldest at the top|chronologically|in chronological order',
    { is: 'oldest' },
  ],
  ['slowest first|longest first', { is: 'slowest' }],
  ['fastest first|quickest first|shortest first', { is: 'fastest' }],
  ['most first|largest first|biggest first|highest first|in descending order|descending', { is: 'most' }],
  ['fewest first|smallest first|lowest first|least first|in ascending order|ascending', { is: 'least' }],
];

/** Words between a field and its value */
const comparisonPhrases: readonly (readonly [phrases: string, operator: Operator])[] = [
  [
    'contain|containing|contains|contain the word|containing the word|contains the word|with the word|mention the word|contain the text|containing the text|mention|mentioning|include|including|matching|match|saying|say|with text|with the text|that say|with message',
    'contains',
  ],
  ['=|==|is|are|equal|equals|equal to|is equal to|being', 'is'],
  ["!=|is not|are not|not equal to|isn't|differs from|other than", 'not'],
  [
    `>|above|over|greater than|more than|larger than|higher than|bigger than|exceeding|exceed|exceeds|beyond|longer than|running above|running over|operating above|${adjectivePhrases.above}`,
    'above',
  ],
  [
    `<|below|under|less than|fewer than|smaller than|lower than|shorter than|running below|running under|${adjectivePhrases.below}`,
    'below',
  ],
  ['>=|≥|at least|no less than|from', 'from'],
  ['<=|≤|at most|up to|no more than', 'upto'],
  ['between', 'between'],
];

/** For records with a duration */
const createDurationOperator = (operator: 'above' | 'below' | 'from' | 'upto'): Mark => ({
  is: 'operator',
  operator,
  about: 'duration',
});
const spanError: Mark = { is: 'condition', condition: { search: 'status:error', field: 'status', isNumerator: true } };
const tracePhrases: readonly (readonly [phrases: string, mark: Mark])[] = [
  [
    'requests|request|responses|transactions|http requests|incoming requests|hits|http responses',
    createNounMark('requests'),
  ],
  ['traffic', { is: 'traffic' }],
  ['calls|invocations', createNounMark('calls')],
  [
    'outgoing calls|outgoing requests|client calls|client spans|client requests',
    { is: 'condition', condition: { search: 'kind:client', field: 'kind' } },
  ],
  ['throughput|rps|qps|request rate', { is: 'throughput' }],
  [
    'get slower|got slower|getting slower|become slower|became slower|gotten slower|slower|get faster|got faster|getting faster|become faster|became faster|gotten faster|slow down|slowed down|slowing down|speed up|sped up',
    { is: 'trend', noun: 'latency' },
  ],
  ['send|sent|sending|make|made|making|issue|issued|issuing', { is: 'sent' }],
  ['send to|sent to|made to|made against|issued to|making to|sending to', { is: 'noise' }],
  ['longest running|longest lasting|most time consuming|long running|slow', { is: 'slowest' }],
  ['most expensive', { is: 'slowest', isCost: true }],
  ['rejected with|refused with|answered with|ended with|responded with', { is: 'noise' }],
  ['server spans', createNounMark('requests')],
  ['producer spans', { is: 'condition', condition: { search: 'kind:producer', field: 'kind' } }],
  ['consumer spans', { is: 'condition', condition: { search: 'kind:consumer', field: 'kind' } }],
  ['spans|operations', createNounMark('spans')],
  ['traces', createNounMark('traces')],
  [
    'latency|response time|turnaround|turnaround time|answer time|reply time|service time|lag time|how long|how fast|how slow|time taken|execution time|elapsed time|request time|request duration|response times|latencies|processing time|time spent|time spent in|time spent on',
    createNounMark('latency'),
  ],
  [
    'errors|error|failed|failures|failure|failing|fail|fails|unsuccessful|erroneous|faulty|went wrong|go wrong|going wrong|errored|failed with errors|erroring|crashed|blew up|broken|breaking|broke|wrong',
    spanError,
  ],
  [
    'successful|succeeded|succeed|without errors|without error|successes',
    { is: 'condition', condition: { search: 'NOT status:error', field: 'status', isNumerator: true } },
  ],
  [
    'slower than|longer than|took more than|take more than|took longer than|take longer than|taking longer than|taking more than|took over|taking over|ran longer than|ran for more than|running longer than|running for more than|lasted longer than|lasting more than',
    createDurationOperator('above'),
  ],
  [
    'faster than|quicker than|shorter than|took less than|take less than|taking less than|took under',
    createDurationOperator('below'),
  ],
  ['took at least|take at least|lasting at least', createDurationOperator('from')],
  ['took at most|take at most', createDurationOperator('upto')],
  [
    'took between|take between|taking between|lasting between',
    { is: 'operator', operator: 'between', about: 'duration' },
  ],
];

const logPhrases: readonly (readonly [phrases: string, mark: Mark])[] = [
  [
    'logs|log|log lines|log records|log messages|log entries|log events|lines|messages|entries|entry|log line|log entry|logged|log output',
    createNounMark('logs'),
  ],
  [
    'errors|error|failures|failure|error level|problems|error entries|error lines|broken|breaking|broke|wrong',
    { is: 'condition', condition: { search: 'severity:>=error', field: 'severity', isNumerator: true } },
  ],
  ['warnings|warning|warn|warns|warn level|warning level', createSeverityMark('warn')],
  ['fatal|fatal errors', createSeverityMark('>=fatal')],
  ['critical|critical errors', createSeverityMark('critical')],
  ['debug|debug level', createSeverityMark('debug')],
  ['info level|informational', createSeverityMark('info')],
];

const metricPhrases: readonly (readonly [phrases: string, mark: Mark])[] = [
  [
    `metric|metrics|gauge|counter|histogram|reading|bytes|open|how big|how large|how high|how low|how long is|how long|how slow|how fast|how much time|use|uses|using|consume|consumes|consumed|consuming|hold|holds|holding|reach|reaches|reached|reaching|exceeds|run at|running at|operating at|stand at|standing at|${adjectivePhrases.how}`,
    { is: 'noise' },
  ],
  ['now', { is: 'current' }],
];

export type Vocabulary = ReadonlyMap<string, Mark>;

const createVocabulary = (...rows: readonly (readonly (readonly [string, Mark])[])[]): Vocabulary =>
  new Map(
    rows.flat().flatMap(([phrases, mark]) =>
      splitPhrases(phrases)
        .flatMap((phrase) => (/^\s*(?:most|least) /.test(phrase) ? [phrase, `the ${phrase.trim()}`] : [phrase]))
        .map((phrase): [string, Mark] => [phrase.trim().split(' ').map(toStem).join(' '), mark]),
    ),
  );

/** For the same words, phrases of a telemetry signal have precedence over shared phrases. */
export const vocabularies = {
  logs: createVocabulary(sharedPhrases, logPhrases),
  traces: createVocabulary(sharedPhrases, tracePhrases),
  metrics: createVocabulary(sharedPhrases, metricPhrases),
} as const;

/** Operators by phrase; only valid after a field and before a duration */
export const operators: ReadonlyMap<string, Operator> = new Map(
  comparisonPhrases.flatMap(([phrases, operator]) =>
    splitPhrases(phrases).map((phrase): [string, Operator] => [phrase.split(' ').map(toStem).join(' '), operator]),
  ),
);

/** Words of all phrases, as candidates for corrections */
export const vocabularyWords: ReadonlySet<string> = new Set(
  [...Object.values(vocabularies), operators].flatMap((phrases) =>
    [...phrases.keys()].flatMap((phrase) => phrase.split(' ')),
  ),
);

/**
 * Single words to which only a slip of typing is corrected: those without a meaning, and those of steps. Other words
 * differ from them by one letter: "charged" is not "changed".
 */
export const slipWords: ReadonlySet<string> = new Set(
  [...vocabularies.logs].flatMap(([phrase, { is }]) =>
    (is === 'noise' || is === 'overTime' || is === 'trend') && !phrase.includes(' ') ? [phrase] : [],
  ),
);

/** Ambiguous words that are not part of one name; they do not name a metric alone */
export const genericWords: ReadonlySet<string> = new Set(
  splitPhrases(
    'request|response|error|failed|failure|duration|latency|count|total|rate|time|log|server|client|number|size|current|sum|max|min|average|usage|second|bucket|ratio|status|call|span|trace|by|service|http|name|id|type|code|message|active|limit',
  ),
);
