import test from 'ava';
import { killRounds } from '../budget.ts';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { startServices, unavailable } from '../services/services.ts';
import { escalationContract } from './escalation-killed.ts';

const reason = unavailable('mongodb');
if (reason !== undefined) test.skip(`mongodb: ${reason}`, () => undefined);
else
  escalationContract({
    name: 'mongodb',
    async store() {
      const services = await startServices(['mongodb']);
      const url = services.url('mongodb').replace('/?', `/oiq-escalation-${process.pid}-${Date.now()}?`);
      return { mongodb: url };
    },
    open: (store) => openPatientDocuments('mongodb' in store ? store.mongodb : ''),
    members: 2,
    // Most processes are killed within a transaction, which the server keeps open for another ten seconds.
    rounds: killRounds,
  });
