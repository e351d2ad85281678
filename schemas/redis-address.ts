/** Address of Redis: one server, servers that Sentinel monitors, or a cluster. */

export interface RedisAddress {
  readonly kind: 'server' | 'sentinel' | 'cluster';
  readonly usesTls: boolean;
  /** Credentials of Redis itself; none by default. */
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** The server, the sentinels, or some of the cluster's servers. IPv6 addresses have no brackets. */
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  /** Sentinel's name of the monitored servers. */
  readonly name: string | undefined;
  readonly database: number;
  /** Credentials of the sentinels, from `?sentinelUsername=` and `?sentinelPassword=`. */
  readonly sentinelUsername: string | undefined;
  readonly sentinelPassword: string | undefined;
}

const schemePattern = /^redis(s?)(?:-(sentinel|cluster))?:\/\//;
const defaultPorts = { server: 6379, sentinel: 26_379, cluster: 6379 };
const expectedFormat =
  'must be redis://HOST:PORT, redis-sentinel://HOST:PORT,HOST:PORT/NAME or redis-cluster://HOST:PORT,HOST:PORT (rediss for TLS)';

const parseNode = (text: string, port: number): RedisAddress['nodes'][number] => {
  const url = URL.canParse(`redis://${text}`) ? new URL(`redis://${text}`) : undefined;
  if (url === undefined || url.hostname === '' || url.pathname !== '' || url.search !== '' || url.hash !== '')
    throw new Error(`${expectedFormat}; passwords are percent-encoded`);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || port };
};

const decodeCredential = (text: string | undefined): string | undefined =>
  text === undefined || text === '' ? undefined : decodeURIComponent(text);

const parseDatabase = (text: string): number => {
  if (text === '') return 0;
  if (!/^\d{1,5}$/.test(text)) throw new Error('the database in the path must be a number');
  return Number(text);
};

/** Parses an address of the setting `OIQ_REDIS_URL`. Throws an `Error` with the expected format. */
export const parseRedisAddress = (text: string): RedisAddress => {
  const [prefix, tlsSuffix, kindText] = schemePattern.exec(text) ?? [];
  if (prefix === undefined) throw new Error(expectedFormat);
  const kind = (kindText ?? 'server') as RedisAddress['kind'];
  const [beforeQuery = '', query = ''] = splitOnce(text.slice(prefix.length), '?');
  const [authority = '', path = ''] = splitOnce(beforeQuery, '/');
  const credentialsEnd = authority.lastIndexOf('@');
  const [username, password] = splitOnce(authority.slice(0, Math.max(0, credentialsEnd)), ':');
  const parameters = new URLSearchParams(query);
  const nodes = authority
    .slice(credentialsEnd + 1)
    .split(',')
    .map((node) => parseNode(node.trim(), defaultPorts[kind]));
  const [name = '', database = ''] = kind === 'sentinel' ? splitOnce(path, '/') : ['', path];
  if (kind === 'sentinel' && name === '')
    throw new Error(`${expectedFormat}; NAME is the name of the monitored servers in Sentinel`);
  if (kind === 'server' && nodes.length > 1)
    throw new Error(`${expectedFormat}; several servers need redis-sentinel or redis-cluster`);
  if (kind === 'cluster' && database !== '') throw new Error('a cluster has no databases: omit the path');
  return {
    kind,
    usesTls: tlsSuffix === 's',
    username: decodeCredential(username),
    password: decodeCredential(password),
    nodes,
    name: kind === 'sentinel' ? decodeURIComponent(name) : undefined,
    database: parseDatabase(database),
    sentinelUsername: parameters.get('sentinelUsername') ?? undefined,
    sentinelPassword: parameters.get('sentinelPassword') ?? undefined,
  };
};

const splitOnce = (text: string, separator: string): [string, string?] => {
  const index = text.indexOf(separator);
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)];
};
