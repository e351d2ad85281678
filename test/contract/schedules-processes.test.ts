/** Schedules in separate processes: one is paused beyond its session and resumes, one is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { openKafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import { openStates } from '../../runtime/states.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { startServices } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { madeUpChecks } from './made-up-checks.ts';

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
};

const startProcess = (t: ExecutionContext, args: readonly string[]) => {
  const script = fileURLToPath(new URL('schedules-member.ts', import.meta.url));
  const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => end(child));
  let saves = 0;
  createInterface(child.stdout).on('line', (line) => {
    if (line === 'saved') saves++;
  });
  return {
    child,
    works(what: string): Promise<void> {
      const until = saves + 40;
      return eventually(what, () => saves >= until);
    },
  };
};

test('every due time takes effect once, even if a process is paused beyond its session timeout and resumes, and another is killed', async (t) => {
  const services = await startServices(['kafka', 'mongodb']);
  const brokers = services.url('kafka');
  const url = services.url('mongodb').replace('/?', `/oiq-schedules-${process.pid}-${Date.now()}?`);
  const bus = await openKafkaBus({ brokers: brokers.split(',') });
  const documents = await openPatientDocuments(url);
  t.teardown(async () => {
    await bus.close();
    await documents.close();
  });
  const id = randomUUID();
  const checks = madeUpChecks(id);
  const created = await checks.prepare(bus, documents, 1000);
  const states = openStates({ documents, clock: systemClock });

  const first = startProcess(t, [brokers, url, id]);
  const second = startProcess(t, [brokers, url, id]);
  await Promise.all([first.works('the first process'), second.works('the second process')]);
  const runsEverything = (what: string): Promise<void> => {
    const sinceMs = Date.now();
    return eventually(`${what} to run everything`, async () => {
      const saved = await Promise.all(created.map((check) => checks.saved(states, check)));
      return saved.every((each) => each !== undefined && each.dueMs > sinceMs);
    });
  };
  first.child.kill('SIGSTOP');
  await runsEverything('the second process');
  await second.works('the second process');
  first.child.kill('SIGCONT');
  await first.works('the first process, returned');
  await end(second.child);
  // Runs that the second process saved and did not publish are published once the first has its slots.
  await runsEverything('the first process, alone');
  first.child.stdin?.write('stop\n');
  await once(first.child, 'exit');
  t.true((await checks.verify(t, { bus, states, made: created })) > 100);
});
