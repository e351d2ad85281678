/** Which Redis servers are probed. */
import test from 'ava';
import type { Redis } from 'ioredis';
import { RedisMembers } from '../../adapters/redis-members.ts';

const namesOf = (members: RedisMembers): readonly string[] => members.list().map(({ name }) => name);
const toClient = (stream: object | undefined): Redis => ({ isCluster: false, stream }) as unknown as Redis;

test('With Sentinel, the sentinels and the server in use are probed, and a former server stays in the list', (t) => {
  const client = { isCluster: false, stream: undefined as object | undefined };
  const members = new RedisMembers(client as unknown as Redis, 'redis-sentinel://10.0.0.1,10.0.0.2:5000/main');
  t.teardown(() => members.close());
  const sentinels = ['sentinel 10.0.0.1:26379', 'sentinel 10.0.0.2:5000'];
  t.deepEqual(namesOf(members), sentinels);
  client.stream = { remoteAddress: '10.0.0.3', remotePort: 6379 };
  t.deepEqual(namesOf(members), [...sentinels, '10.0.0.3:6379']);
  client.stream = { remoteAddress: undefined, remotePort: undefined };
  t.deepEqual(namesOf(members), [...sentinels, '10.0.0.3:6379']);
  client.stream = { remoteAddress: '10.0.0.4', remotePort: 6379 };
  t.deepEqual(namesOf(members), [...sentinels, '10.0.0.3:6379', '10.0.0.4:6379']);
});

test('A single server is probed by its configured name', (t) => {
  const members = new RedisMembers(toClient({ remoteAddress: '10.0.0.3', remotePort: 6379 }), 'redis://cache');
  t.teardown(() => members.close());
  t.deepEqual(namesOf(members), ['cache:6379']);
});
