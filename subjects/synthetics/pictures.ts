/** Screenshots of pages: for each check and location, those of the last passed and of the last failed run */
import { ConflictError, type TenantDocuments } from '../../schemas/ports/documents.ts';
import { syntheticChecks } from '../../schemas/resources/synthetic-check.ts';
import { maxPictures, type SyntheticPicture, syntheticPictures } from '../../schemas/resources/synthetic-picture.ts';
import type { ProbePicture } from '../../schemas/synthetic-work.ts';
import { findRefusal } from './accept.ts';
import { parseCheck } from './known.ts';

const maxAttempts = 3;

/** Replaces the screenshot of an earlier run. */
const writePicture = async (
  documents: TenantDocuments,
  id: string,
  picture: SyntheticPicture,
): Promise<string | undefined> => {
  const pictures = documents.collection(syntheticPictures);
  const before = await pictures.find(id);
  if (before !== undefined && before.dueMs >= picture.dueMs) return 'this or a later run already has a screenshot';
  if (before !== undefined) await pictures.replace(id, picture, before.version);
  else if ((await pictures.count()) >= maxPictures) return `the maximum of ${maxPictures} screenshots is reached`;
  else await pictures.insert({ ...picture, id });
  return undefined;
};

/** Stores the screenshot of an assigned run; returns the reason if it is not stored. */
export const storePicture = async (
  documents: TenantDocuments,
  { checkId, outcome, content, ...run }: ProbePicture,
  { location, nowMs }: { readonly location: string; readonly nowMs: number },
): Promise<string | undefined> => {
  const stored = await documents.collection(syntheticChecks).find(checkId);
  const check = stored && parseCheck(stored);
  const refusal = findRefusal(run, check, { location, nowMs });
  if (refusal !== undefined) return refusal;
  if (check?.type !== 'browser') return 'runs of this check have no screenshots';
  const kind = outcome === 'failed' ? 'failed' : 'good';
  for (let left = maxAttempts; left > 0; left--) {
    try {
      const picture = { checkId, location, kind, dueMs: run.dueMs, content } as const;
      return await writePicture(documents, `${checkId}.${location}.${kind}`, picture);
    } catch (error) {
      // Another probe of the location stored it first.
      if (!(error instanceof ConflictError)) throw error;
    }
  }
  return 'other screenshots are being stored at the same time';
};
