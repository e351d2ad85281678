/** `oiq clickhouse`: shows the state of the ClickHouse servers, and empties or forgets a shard. */
import { parseSettings, rejectLocalStores } from '../schemas/settings.ts';
import { forgetShard } from './clickhouse-forgetting.ts';
import { formatShards, reportShards } from './clickhouse-shards.ts';
import { parseOptions } from './command-arguments.ts';
import { drainShard } from './drain-shard.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

const help = `oiq clickhouse shards                    shards and replicas: rows, size, problems, which receive new rows
oiq clickhouse empty SHARD [--to SHARD]  move all rows of a shard with weight 0 to another shard (default 1), before its removal
oiq clickhouse forget SHARD              discard the rows of a permanently lost shard that was removed from the cluster
`;

type Request =
  | { readonly action: 'shards' }
  | { readonly action: 'forget'; readonly shard: number }
  | { readonly action: 'empty'; readonly from: number; readonly to: number };

const parseShard = (text: string): number => {
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new UsageError(`SHARD must be a number of at least 1, not ${text}\n\n${help}`);
  return Number(text);
};

const parseRequest = ([action, ...args]: readonly string[]): Request | undefined => {
  if (action === undefined || action === '--help' || action === '-h') return undefined;
  if (action === 'shards' && args.length === 0) return { action };
  const [shard, ...rest] = args;
  if (action === 'forget' && shard !== undefined && rest.length === 0) return { action, shard: parseShard(shard) };
  if (action === 'empty' && shard !== undefined) {
    const { to } = parseOptions(rest, { to: { type: 'string', default: '1' } }, help);
    const request = { action, from: parseShard(shard), to: parseShard(to) } as const;
    if (request.from === request.to) throw new UsageError(`shard ${shard} cannot be emptied into itself\n\n${help}`);
    return request;
  }
  throw new UsageError(`no such action\n\n${help}`);
};

export const clickhouseCommand = async ({ args, environment, open }: CommandContext): Promise<void> => {
  const request = parseRequest(args);
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  if (request === undefined) {
    process.stdout.write(help);
    return;
  }
  const settings = parseSettings(environment);
  rejectLocalStores(settings, { isPart: true });
  const { CLICKHOUSE_CLUSTER: cluster } = settings;
  const platform = await open(settings);
  try {
    if (request.action === 'shards') print(formatShards(await reportShards(platform.columns, cluster)));
    else if (request.action === 'forget')
      await forgetShard(platform.columns, { cluster, shard: request.shard, printLine: print });
    else if (cluster === undefined) throw new UsageError('OIQ_CLICKHOUSE_CLUSTER is not set: there is only one server');
    else await drainShard(platform.columns, { ...request, cluster, report: print });
  } finally {
    await platform.close();
  }
};
