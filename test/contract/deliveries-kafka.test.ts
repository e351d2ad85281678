import { randomUUID } from 'node:crypto';
import test from 'ava';
import { startServices, unavailable } from '../services/services.ts';
import { deliveriesContract } from './deliveries.ts';

const reason = unavailable('kafka') ?? unavailable('mongodb');
if (reason === undefined) {
  deliveriesContract({
    name: 'cluster',
    async place() {
      const services = await startServices(['kafka', 'mongodb']);
      const prefix = `deliveries-${randomUUID()}.`;
      const mongodb = services.url('mongodb').replace('/?', `/oiq-deliveries-${process.pid}-${Date.now()}?`);
      return { kind: 'cluster', brokers: services.url('kafka'), mongodb, prefix };
    },
    members: 2,
  });
} else test.skip(`kafka: ${reason}`, () => undefined);
