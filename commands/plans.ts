/** Plans from a file: whoever runs the installation says there what they allow and cost. */
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Documents } from '../schemas/ports/documents.ts';
import { Plan, plans, plansTenant } from '../schemas/resources/plan.ts';
import { type Settings, SettingsError } from '../schemas/settings.ts';

const PlansFile = z.record(z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, 'ids are of a-z, 0-9 and -'), Plan);

const read = async (path: string): Promise<z.output<typeof PlansFile>> => {
  const refuse = (problem: string): never => {
    throw new SettingsError([`OIQ_PLANS_FILE: ${path} ${problem}`]);
  };
  const text = await readFile(path, 'utf8').catch((error: Error) => refuse(`cannot be read: ${error.message}`));
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return refuse(`is not JSON: ${error instanceof Error ? error.message : ''}`);
  }
  const result = PlansFile.safeParse(json);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  return refuse(`holds no plans: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
};

/** Writes the plans of the file where they differ from what is stored. Plans that it does not name stay: organizations may have them. */
export const applyPlans = async (documents: Documents, { PLANS_FILE: path }: Settings): Promise<void> => {
  if (path === undefined) return;
  const wanted = await read(path);
  await documents.transaction(async (transaction) => {
    const stored = transaction.of(plansTenant).collection(plans);
    for (const [id, plan] of Object.entries(wanted)) {
      const before = await stored.find(id);
      if (before === undefined) {
        await stored.insert({ id, ...plan });
        continue;
      }
      const { id: _, version, createdAt, updatedAt, ...fields } = before;
      if (!isDeepStrictEqual(fields, plan)) await stored.replace(id, plan, version);
    }
  });
};
