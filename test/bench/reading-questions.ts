/** The requests of `reading.ts` to OIQ and to VictoriaLogs. */
import { needleOf, traceIdOf } from './reading-bodies.ts';

export interface Question {
  readonly name: string;
  /** The target time with 20 million log records. */
  readonly maxMs: number;
  /** The path in the management API. */
  readonly path: string;
  /** Parameters of LogsQL; undefined if VictoriaLogs has no equivalent. */
  readonly logsql?: string;
  /** Also measured with many concurrent readers. */
  readonly isForMany?: true;
}

const hourMs = 3_600_000;

interface QuestionInput {
  readonly name: string;
  readonly maxMs: number;
  readonly search?: string;
  readonly service?: string;
  readonly logsql: string;
  readonly hours?: number;
  readonly isForMany?: true;
}

/** Lists of the newest 100 log records. */
const lists = (middle: number): readonly QuestionInput[] => [
  { name: 'one rare word', maxMs: 60, search: needleOf(middle), logsql: needleOf(middle), isForMany: true },
  { name: 'a word that is nowhere', maxMs: 60, search: 'zzqqyx', logsql: 'zzqqyx' },
  { name: 'newest 100 of a common word', maxMs: 60, search: 'completed', logsql: 'completed', isForMany: true },
  { name: 'newest 100 of a word of 1 %', maxMs: 60, search: 'deadlock', logsql: 'deadlock', isForMany: true },
  {
    name: 'newest 100 of a service',
    maxMs: 60,
    service: 'orders-000',
    logsql: '{"service.name"="orders-000"}',
    isForMany: true,
  },
  {
    name: 'an attribute equals',
    maxMs: 100,
    search: 'attribute.user.id:u000042',
    logsql: '"user.id":="u000042"',
  },
  {
    name: 'a phrase, one hour',
    maxMs: 300,
    search: '"returned 503 after"',
    hours: 1,
    logsql: '"returned 503 after"',
  },
  {
    name: 'a regular expression, one hour',
    maxMs: 300,
    search: '/took 12[0-9]{2} ms/',
    hours: 1,
    logsql: '~"took 12[0-9]{2} ms"',
  },
  {
    name: 'an attribute is greater, one hour',
    maxMs: 300,
    search: 'attribute.duration_ms:>999.9',
    hours: 1,
    logsql: '"duration_ms":>999.9',
  },
];

/** Requests over a day that ends at `toMs`, filled by the given number of requests. */
export const questionsOf = ({
  fromMs,
  toMs,
  requests,
}: {
  fromMs: number;
  toMs: number;
  requests: number;
}): readonly Question[] => {
  const within = (hours: number): [string, string] => {
    const from = Math.max(fromMs, toMs - hours * hourMs);
    return [`from=${from}&to=${toMs}`, `start=${new Date(from).toISOString()}&end=${new Date(toMs).toISOString()}`];
  };
  const question = ({ name, maxMs, search, service, logsql, hours = 24, isForMany }: QuestionInput): Question => {
    const [range, peerRange] = within(hours);
    const what =
      search === undefined ? `service=${encodeURIComponent(service ?? '')}` : `search=${encodeURIComponent(search)}`;
    return {
      name,
      maxMs,
      path: `/api/logs?${range}&limit=100&${what}`,
      logsql: `query=${encodeURIComponent(logsql)}&${peerRange}&limit=100`,
      ...(isForMany === undefined ? {} : { isForMany }),
    };
  };
  const [allDay, peerAllDay] = within(24);
  const [lastHour, peerLastHour] = within(1);
  const stats = (pipe: string, range: string): string => `query=${encodeURIComponent(pipe)}&${range}`;
  return [
    ...lists(Math.floor(requests / 2)).map(question),
    {
      name: 'count of a common word by minute',
      maxMs: 300,
      path: `/api/logs/histogram?${allDay}&step=60s&search=completed`,
      logsql: stats('completed | stats by (_time:1m) count() as n', peerAllDay),
    },
    {
      name: 'top 10 values of an attribute, one hour',
      maxMs: 150,
      path: `/api/logs/fields/user.id/values?${lastHour}&limit=10`,
      logsql: stats('* | stats by ("user.id") count() as n | sort by (n desc) limit 10', peerLastHour),
    },
    { name: 'a trace by its id', maxMs: 30, path: `/api/traces/${traceIdOf(Math.floor(requests / 4), 7)}` },
    { name: 'newest 100 traces', maxMs: 60, path: `/api/traces?${allDay}&limit=100&scope=account` },
    { name: 'services of the last hour', maxMs: 100, path: `/api/services?${lastHour}&scope=account` },
    { name: 'the catalogue of fields', maxMs: 100, path: `/api/logs/fields?${allDay}` },
  ];
};
