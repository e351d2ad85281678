import test from 'ava';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { startServices, unavailable } from '../services/services.ts';
import { jobsContract } from './jobs.ts';

const reason = unavailable('mongodb');
if (reason !== undefined) test.skip(`mongodb: ${reason}`, () => undefined);
else
  jobsContract(async () => {
    const services = await startServices(['mongodb']);
    const url = services.url('mongodb').replace('/?', `/oiq-jobs-${process.pid}-${Date.now()}?`);
    return openPatientDocuments(url);
  });
