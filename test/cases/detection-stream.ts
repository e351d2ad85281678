/** Runs the processors of detections over one partition each. */
import { chainedCorrelations, correlations } from '../../processors/detections/correlations.ts';
import { detections } from '../../processors/detections/detections.ts';
import { detectionRules } from '../../schemas/resources/detection-rule.ts';
import type { DetectionSignal } from '../../schemas/signals.ts';
import { topics } from '../../schemas/topics.ts';
import type { StoredDetectionRule } from './detection-rules.ts';
import { firstMs, TaskRun, valuesIn } from './run-task.ts';

export class DetectionStream {
  readonly detections = new TaskRun(detections);
  readonly correlations = new TaskRun(correlations);
  readonly chained = new TaskRun(chainedCorrelations);
  readonly #runs = [this.detections, this.correlations, this.chained];
  readonly #rules = new Map<string, StoredDetectionRule>();
  readonly #consumed = new Map<TaskRun, number>();

  constructor(rules: readonly StoredDetectionRule[] = []) {
    for (const rule of rules) this.deploy(rule);
  }

  deploy(rule: StoredDetectionRule): void {
    this.#rules.set(rule.id, rule);
    for (const { task } of this.#runs) task.applyChange(detectionRules.name, 'acme', rule.id, rule);
  }

  remove(id: string): void {
    this.#rules.delete(id);
    for (const { task } of this.#runs) task.applyChange(detectionRules.name, 'acme', id, undefined);
  }

  /** Processes log records (in JSON form) of one resource at a time of the bus. */
  logs(records: readonly object[], resource: Readonly<Record<string, string>> = {}, atMs = firstMs): void {
    this.detections.logs(records, resource, { atMs });
    this.#pass(atMs);
  }

  /** Advances the clock of idle partitions to this time. */
  tick(clockMs: number): void {
    for (const run of this.#runs) {
      run.tick(clockMs);
      this.#pass(clockMs);
    }
  }

  restart(): void {
    for (const run of this.#runs) run.restart();
    for (const rule of this.#rules.values()) this.deploy(rule);
  }

  get signals(): DetectionSignal[] {
    return this.#runs.flatMap((run) => run.emitted<DetectionSignal>(topics.signals));
  }

  /** Forwards emitted messages to the subsequent processors. */
  #pass(atMs: number): void {
    for (const run of this.#runs) {
      const messages = run.messages.slice(this.#consumed.get(run) ?? 0);
      this.#consumed.set(run, run.messages.length);
      for (const [topic, target] of [
        [topics.detectionMatches, this.correlations],
        [topics.chainedMatches, this.chained],
      ] as const) {
        const values = valuesIn(messages, topic.name);
        if (values.length > 0) target.values(values, { atMs });
      }
    }
  }
}
