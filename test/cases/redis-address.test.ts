import test from 'ava';
import { parseRedisAddress } from '../../schemas/redis-address.ts';
import { parseSettings, SettingsError } from '../../schemas/settings.ts';

const server = {
  kind: 'server',
  usesTls: false,
  username: undefined,
  password: undefined,
  nodes: [{ host: 'redis', port: 6379 }],
  name: undefined,
  database: 0,
  sentinelUsername: undefined,
  sentinelPassword: undefined,
};
const sentinels = [
  { host: 'a', port: 26_379 },
  { host: '::1', port: 26_380 },
];

for (const [text, expected] of [
  ['redis://redis', server],
  ['redis://redis:6379/', server],
  ['rediss://:se%2Fcr%40t@redis/3', { ...server, usesTls: true, password: 'se/cr@t', database: 3 }],
  [
    'redis://oiq:secret@redis:6380',
    { ...server, username: 'oiq', password: 'secret', nodes: [{ host: 'redis', port: 6380 }] },
  ],
  ['redis-sentinel://a,[::1]:26380/limits', { ...server, kind: 'sentinel', nodes: sentinels, name: 'limits' }],
  [
    'rediss-sentinel://oiq:secret@a,[::1]:26380/limits/2?sentinelUsername=watch&sentinelPassword=se%26cret',
    {
      ...server,
      kind: 'sentinel',
      usesTls: true,
      username: 'oiq',
      password: 'secret',
      nodes: sentinels,
      name: 'limits',
      database: 2,
      sentinelUsername: 'watch',
      sentinelPassword: 'se&cret',
    },
  ],
  [
    'redis-cluster://oiq:secret@a:7000,b:7001',
    {
      ...server,
      kind: 'cluster',
      username: 'oiq',
      password: 'secret',
      nodes: [
        { host: 'a', port: 7000 },
        { host: 'b', port: 7001 },
      ],
    },
  ],
] as const) {
  test(`${text} is parsed`, (t) =>
    t.deepEqual(parseRedisAddress(text), expected as ReturnType<typeof parseRedisAddress>));
}

for (const [text, message] of [
  ['http://redis', /must be redis:\/\//],
  ['redis://', /must be redis:\/\//],
  ['redis://a,b', /redis-sentinel or redis-cluster/],
  ['redis-sentinel://a:26379', /NAME is the name of the monitored servers/],
  ['redis-cluster://a:6379/1', /no databases/],
  ['redis://a/main', /must be a number/],
  ['redis://a:99999', /must be redis:\/\//],
  ['redis://:hid/den@a', /percent-encoded/],
] as const) {
  test(`${text} is rejected with the expected format, and no part of it is shown`, (t) => {
    const error = t.throws(() => parseSettings({ OIQ_REDIS_URL: text }), { instanceOf: SettingsError, message });
    t.false(error.message.includes('hid'), error.message);
  });
}
