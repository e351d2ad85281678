/** Runs deployed rules over records in a worker thread, for `rule-threads.ts` */
import { parentPort } from 'node:worker_threads';
import { Backtest } from './backtest.ts';
import { compileDeployment, type Deployment } from './deployment.ts';
import { fillEvent } from './record-event.ts';
import type { RuleReply, RuleRequest } from './rule-messages.ts';

let deployment: Deployment = compileDeployment([], [], []);
let backtest = new Backtest(deployment, 0);

const handleRequest = (request: RuleRequest): RuleReply => {
  const { id } = request;
  if ('records' in request) return { id, signals: request.records.flatMap((record) => backtest.add(record)) };
  if ('end' in request) return { id, signals: backtest.end() };
  if ('events' in request) {
    const { set } = deployment;
    const matches = request.events.map((event) =>
      set.match(fillEvent(set.newEvent(), event)).map(({ ruleId, fields }) => ({ ruleId, fields })),
    );
    return { id, matches };
  }
  const { rules, fields, placeholders } = request.deploy;
  deployment = compileDeployment(rules, fields, placeholders);
  backtest = new Backtest(deployment, request.nowMs);
  return { id };
};

parentPort?.on('message', (request: RuleRequest) => {
  parentPort?.postMessage(handleRequest(request));
});
