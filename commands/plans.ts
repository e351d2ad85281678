/** Plans from a file, in which the operator of the installation sets limits and prices. */
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Documents } from '../schemas/ports/documents.ts';
import { Plan, plans, plansTenant } from '../schemas/resources/plan.ts';
import { type Settings, SettingsError } from '../schemas/settings.ts';

const PlansFile = z.record(z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, 'plan ids consist of a-z, 0-9 and -'), Plan);

export type Plans = z.output<typeof PlansFile>;

/** Reads the plans in the file of the settings, if there is one. */
export const readPlans = async ({ PLANS_FILE: path }: Settings): Promise<Plans> => {
  if (path === undefined) return {};
  const throwSettingsError = (problem: string): never => {
    throw new SettingsError([`OIQ_PLANS_FILE: ${path} ${problem}`]);
  };
  const text = await readFile(path, 'utf8').catch((error: Error) =>
    throwSettingsError(`cannot be read: ${error.message}`),
  );
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return throwSettingsError(`is not JSON: ${error instanceof Error ? error.message : ''}`);
  }
  const result = PlansFile.safeParse(json);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  return throwSettingsError(`is not a file of plans: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
};

/** Writes plans that differ from the stored ones. Plans that are missing in the file remain stored, because organizations may use them. */
export const applyPlans = async (documents: Documents, targetPlans: Plans): Promise<void> => {
  if (Object.keys(targetPlans).length === 0) return;
  await documents.transaction(async (transaction) => {
    const storedPlans = transaction.forTenant(plansTenant).collection(plans);
    for (const [id, plan] of Object.entries(targetPlans)) {
      const storedPlan = await storedPlans.find(id);
      if (storedPlan === undefined) {
        await storedPlans.insert({ id, ...plan });
        continue;
      }
      const { id: _, version, createdAt, updatedAt, ...fields } = storedPlan;
      if (!isDeepStrictEqual(fields, plan)) await storedPlans.replace(id, plan, version);
    }
  });
};
