import { z } from 'zod';
import { requireEntitlement } from '../../../queries/entitlement.ts';
import { queryVersion } from '../../../queries/query.ts';
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type RecordingGroup, recordingGroups } from '../../../schemas/resources/recording-group.ts';
import type { RecordingGroupFields } from '../../../subjects/alerts/recording/group.ts';
import type { AlertRule, AlertRuleFields } from '../../../subjects/alerts/rule.ts';
import { type FileRule, readRuleFileInWorker } from '../../../subjects/alerts/rule-file.ts';
import { writeRuleFile } from '../../../subjects/alerts/rule-file-writing.ts';
import { type ExistingRule, RuleNames } from '../../../subjects/alerts/rule-names.ts';
import type { Problem } from '../../../subjects/alerts/rule-problems.ts';
import type { Caller } from '../../callers/caller.ts';
import type { AuditedTransaction } from '../../changes.ts';
import { ApiError, createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { foreignNameMessage, importBodyFields } from '../../resources/import-by-name.ts';
import { hasSameContent } from '../../resources/resource-history.ts';
import { type AlertRuleDocument, alertRuleResource, collection, parseRuleDocument } from './alert-rule.ts';
import { recordingGroupResource } from './recording-group.ts';

const maxRules = 500;

const Outcome = z.strictObject({
  place: z.string().describe('Group in the file, and the index in it from 0 on'),
  name: z.string().nullable(),
  outcome: z.enum(['created', 'replaced', 'unchanged', 'refused']),
  id: z
    .string()
    .nullable()
    .describe('Id of the rule, or of the group for a recording rule; null if it was rejected, or would be created'),
  problems: z
    .array(z.strictObject({ path: z.string(), message: z.string() }))
    .describe(
      'Why it was rejected; for an accepted rule, differences from the file, such as unresolved templates or the interval',
    ),
});

interface ImportResult {
  readonly outcome: 'created' | 'replaced' | 'unchanged';
  readonly id: string | null;
}

interface ImportContext {
  readonly scope: AuditedTransaction;
  readonly caller: Caller;
  readonly dryRun: boolean;
  readonly takeOver: boolean;
}

/** Returns whether a group is from a rule file, whose rules have a place in it. */
const isGroupOfFile = ({ rules }: Pick<RecordingGroup, 'rules'>): boolean =>
  rules.some(({ place: location }) => location !== undefined);

/** A rejected group of recording rules */
interface RejectedGroup {
  readonly outcome: 'refused';
  readonly id: null;
  readonly problems: readonly Problem[];
}
type GroupResult = ImportResult | RejectedGroup;

const reject = (problems: readonly Problem[]): RejectedGroup => ({ outcome: 'refused', id: null, problems });

/** Returns the result of a write; a rejected rule or group does not affect the others. */
const rejectInvalid = async <Result>(write: () => Promise<Result>): Promise<Result | RejectedGroup> => {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return reject(error.details ?? [{ path: '', message: error.message }]);
  }
};

/** Creates a group of recording rules, or replaces it if it exists. It stays disabled if it was disabled. */
const importGroup = async (
  group: RecordingGroupFields,
  { scope, caller, dryRun, takeOver }: ImportContext,
): Promise<GroupResult> => {
  const { file, name } = group;
  const groupCollection = scope.forTenant(caller.tenantId).collection(recordingGroups);
  const { items } = await groupCollection.list({ filter: { file, name }, limit: 1 });
  const [existing] = items;
  const writer = recordingGroupResource.createWriter(scope, caller);
  if (existing === undefined) {
    const createdGroup = dryRun ? undefined : await writer.create(group, { action: 'recording-group.create' });
    return { outcome: 'created', id: createdGroup?.id ?? null };
  }
  if (!isGroupOfFile(existing) && !takeOver) return reject([{ path: 'name', message: foreignNameMessage }]);
  const next = { ...group, enabled: existing.enabled };
  if (hasSameContent(next, existing)) return { outcome: 'unchanged', id: existing.id };
  if (!dryRun) await writer.change(existing.id, () => next, { action: 'recording-group.update' });
  return { outcome: 'replaced', id: existing.id };
};

const toGroupKey = (file: string, name: string): string => JSON.stringify([file, name]);

/** Returns the next document of a rule. What the file cannot declare stays as it is. */
const toNextRule = (rule: AlertRuleFields, before: (AlertRuleDocument & StoredMetadata) | undefined) => ({
  ...rule,
  queryVersion,
  ...(before !== undefined && { enabled: before.enabled, projectId: before.projectId }),
});

/** Imports one rule of a file and returns its result. A recording rule has the result of its group. */
const importRule = async (
  { file, location, group, rule: parsedRule, record, problems }: FileRule,
  { scope, caller, dryRun }: ImportContext,
  { names, groups }: { readonly names: RuleNames; readonly groups: ReadonlyMap<string, GroupResult> },
): Promise<z.input<typeof Outcome>> => {
  const groupResult = record === undefined ? undefined : groups.get(toGroupKey(file, group));
  if (record !== undefined && groupResult !== undefined) {
    const groupProblems = 'problems' in groupResult ? groupResult.problems : [];
    return { place: location, name: record, ...groupResult, problems: [...problems, ...groupProblems] };
  }
  if (parsedRule === undefined) return { place: location, name: null, ...reject(problems), problems: [...problems] };
  const assigned = names.assign(parsedRule);
  if (assigned === undefined)
    return {
      place: location,
      name: parsedRule.name,
      outcome: 'refused',
      id: null,
      problems: [{ path: 'name', message: foreignNameMessage }],
    };
  const { rule, replaces } = assigned;
  const { name } = rule;
  const writer = alertRuleResource.createWriter(scope, caller);
  const write = async (): Promise<ImportResult> => {
    if (replaces === undefined) {
      const created = dryRun
        ? undefined
        : await writer.create(toNextRule(rule, undefined), { action: 'alert-rule.create' });
      return { outcome: 'created', id: created?.id ?? null };
    }
    const existing = await scope.forTenant(caller.tenantId).collection(collection).find(replaces.id);
    const next = toNextRule(rule, existing);
    if (existing !== undefined && hasSameContent(next, existing)) return { outcome: 'unchanged', id: existing.id };
    if (!dryRun) await writer.change(replaces.id, () => next, { action: 'alert-rule.update' });
    return { outcome: 'replaced', id: replaces.id };
  };
  const result = await rejectInvalid(write);
  return {
    place: location,
    name,
    ...result,
    problems: [...problems, ...('problems' in result ? result.problems : [])],
  };
};

export const importAlertRules = defineOperation({
  method: 'POST',
  path: '/api/alerts/rules/import',
  operationId: 'importAlertRules',
  summary:
    'Import alert and recording rules from a rule file of Prometheus: rules from an earlier import of the file are replaced, invalid ones rejected',
  role: 'editor',
  audit: ['alert-rule.create', 'alert-rule.update', 'recording-group.create', 'recording-group.update'],
  // Larger than the limit of `yaml`, so that its error names the field that is too long.
  maxBodyBytes: 8 * 1024 * 1024,
  body: z.strictObject({
    file: z
      .string()
      .min(1)
      .max(900_000)
      .describe(
        'YAML with groups of rules: a rule file of Prometheus, or Kubernetes manifests of the kind PrometheusRule, also several documents or a list',
      )
      .meta({
        examples: ['groups:\n- name: shop\n  rules:\n  - alert: Down\n    expr: up == 0\n    for: 5m\n'],
      }),
    fileName: z
      .string()
      .max(256)
      .default('')
      .describe(
        'Distinguishes files with equal names of groups and alerts: rules of another file are not changed. A manifest has its own name',
      ),
    ...importBodyFields,
  }),
  response: z.strictObject({ items: z.array(Outcome) }),
  async handler({ caller, body, change, signal }) {
    const reader = { tenantId: caller.tenantId, callerId: caller.actor.id, signal };
    const { rules, recordings, problem } = await readRuleFileInWorker(reader, body.file, body.fileName);
    if (recordings.length > 0) requireEntitlement(caller, 'metrics');
    if (problem !== undefined) throw createFieldError('file', problem);
    if (rules.length > maxRules)
      throw createFieldError('file', `has ${rules.length} rules, and at most ${maxRules} are read at once: split it`);
    const items = await change(async (scope) => {
      const outcomes: z.input<typeof Outcome>[] = [];
      const existingRules: ExistingRule[] = [];
      for await (const document of iterateDocuments(scope.forTenant(caller.tenantId).collection(collection)))
        existingRules.push(document);
      const names = new RuleNames(existingRules, body);
      const importContext = { scope, caller, dryRun: body.dryRun, takeOver: body.takeOver };
      const groups = new Map<string, GroupResult>();
      for (const group of recordings)
        groups.set(toGroupKey(group.file, group.name), await rejectInvalid(() => importGroup(group, importContext)));
      for (const fileRule of rules) outcomes.push(await importRule(fileRule, importContext, { names, groups }));
      // A file may contain no changes.
      scope.markUnchanged();
      return outcomes;
    });
    return { items };
  },
});

export const exportAlertRules = defineOperation({
  method: 'GET',
  path: '/api/alerts/rules/export',
  operationId: 'exportAlertRules',
  summary:
    'Get recording rules, and the alert rules with a PromQL query, as a rule file of Prometheus; a comment lists the omitted rules',
  role: 'viewer',
  contentType: 'application/yaml',
  response: z.string(),
  async handler({ caller }, { documents }) {
    const stored = documents.forTenant(caller.tenantId).collection(collection);
    const rules: AlertRule[] = [];
    for await (const document of iterateDocuments(stored, { sort: { name: 1 } })) {
      const rule = parseRuleDocument(document);
      if (rule !== undefined) rules.push(rule);
    }
    const groups: RecordingGroup[] = [];
    const storedGroups = documents.forTenant(caller.tenantId).collection(recordingGroups);
    for await (const group of iterateDocuments(storedGroups, { sort: { name: 1 } })) groups.push(group);
    return writeRuleFile(rules, groups).text;
  },
});
