import { z } from 'zod';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type LlmPrice, LlmPriceFields, llmPrices } from '../../../schemas/resources/llm-price.ts';
import { addPeriod, toPriceId } from '../../../subjects/llm/own-prices.ts';
import { hasSameFields } from '../../changes.ts';
import { createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { formatEtag, parsePrecondition, requireVersion } from '../../resources/preconditions.ts';
import { maxPrices } from './stored-prices.ts';

export const PriceView = z.strictObject({
  model: z.string(),
  version: z.int().describe('The ETag'),
  ...LlmPriceFields.shape,
  periods: z.array(LlmPriceFields).describe('All prices of the model, earliest first; the last one is current'),
});

type StoredLlmPrice = LlmPrice & Pick<StoredMetadata, 'version'>;

/** Returns a price as responses show it. */
export const toPriceView = ({ model, version, periods }: StoredLlmPrice): z.output<typeof PriceView> => {
  const current = periods.at(-1);
  if (current === undefined) throw new Error(`the price of ${model} has no period`);
  return { model, version, ...current, periods: [...periods] };
};

const maxPeriods = 100;

const toTierProblem = ({ tiers }: LlmPriceFields): number =>
  tiers.findIndex(
    ({ inputTokensAbove }, index) => index > 0 && inputTokensAbove <= (tiers[index - 1]?.inputTokensAbove ?? 0),
  );

export const setLlmPrice = defineOperation({
  method: 'PUT',
  path: '/api/llm/prices/{model}',
  operationId: 'setLlmPrice',
  summary: 'Set the price of a model from a time on, also in the past; it takes precedence over the built-in table',
  role: 'editor',
  audit: 'llm-price.set',
  versions: 'write',
  params: z.strictObject({ model: z.string().min(1).max(128) }),
  body: LlmPriceFields,
  response: PriceView,
  async handler({ caller, params, body, request, change }) {
    const { model } = params;
    const id = toPriceId(model);
    const unorderedTier = toTierProblem(body);
    if (unorderedTier >= 0)
      throw createFieldError(`tiers.${unorderedTier}.inputTokensAbove`, 'must be higher than that of the tier before');
    const after = await change(async ({ forTenant, record, markUnchanged }): Promise<StoredLlmPrice> => {
      const prices = forTenant(caller.tenantId).collection(llmPrices);
      const found = await prices.find(id);
      const before = found ?? { model, periods: [], version: 0 };
      requireVersion(before, parsePrecondition(request), { noun: 'price', requiresIfMatch: false });
      const periods = addPeriod(before.periods, body);
      if (periods.length > maxPeriods)
        throw createFieldError(
          'validFrom',
          `gives more than ${maxPeriods} prices of the model: replace an earlier one`,
        );
      const fields = { model: before.model, periods };
      if (hasSameFields(before, fields)) {
        markUnchanged();
        return before;
      }
      if (before.version === 0 && (await prices.list({ limit: maxPrices })).items.length >= maxPrices)
        throw createFieldError('model', `the organization has ${maxPrices} prices, which is the maximum`);
      const written =
        before.version === 0
          ? await prices.insert({ id, ...fields })
          : await prices.replace(id, fields, before.version);
      record({
        id,
        name: model,
        before: found === undefined ? undefined : { periods: found.periods },
        after: { periods },
      });
      return written;
    });
    request.reply('ETag', formatEtag(after));
    return toPriceView(after);
  },
});
