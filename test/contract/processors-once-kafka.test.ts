import '../../subjects/query-kinds.ts';
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { startServices, unavailable } from '../services/services.ts';
import { onceContract } from './processors-once.ts';

const reason = unavailable('kafka') ?? unavailable('mongodb');
if (reason === undefined) {
  onceContract({
    name: 'cluster',
    async place() {
      const services = await startServices(['kafka', 'mongodb']);
      const prefix = `once-${randomUUID()}.`;
      const mongodb = services.url('mongodb').replace('/?', `/oiq-once-${process.pid}-${Date.now()}?`);
      return { kind: 'cluster', brokers: services.url('kafka'), mongodb, prefix };
    },
    members: 2,
    rounds: 2,
    minDeaths: 1,
    messages: 120,
    parts: 4,
    kills: 50,
    failures: 60,
  });
} else test.skip(`kafka: ${reason}`, () => undefined);
