/** Sentences of passages, ranked by relevance to a question */
import type { FoundPassage } from './passage-index.ts';
import { stemsOf } from './words.ts';

const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const codeBlockPattern = /^ {0,3}(?:`{3,}|~{3,})/;
/** Start of a list item, a quotation or a table row */
const blockMarkPattern = /^\s{0,16}(?:[-*+>|]|\d{1,3}[.)])\s+/;
const minSentenceLength = 12;
const maxSentenceLength = 600;

/** Removes link targets: `[words](address)` becomes `words`. */
const removeLinkTargets = (text: string): string => {
  let result = '';
  let at = 0;
  for (let middle = text.indexOf(']('); middle >= 0; middle = text.indexOf('](', at)) {
    const begin = text.lastIndexOf('[', middle);
    const end = text.indexOf(')', middle);
    if (end < 0) break;
    const isLink = begin >= at;
    result += isLink ? text.slice(at, begin) + text.slice(begin + 1, middle) : text.slice(at, middle + 2);
    at = isLink ? end + 1 : middle + 2;
  }
  return result + text.slice(at);
};

/** Returns readable text: link labels without targets, and no emphasis. Code retains its marks. */
const toPlainText = (text: string): string => removeLinkTargets(text).replaceAll('**', '').replaceAll('__', '').trim();

/** Returns blocks of prose: paragraphs and list items. Code blocks contain no sentences. */
const splitBlocks = (text: string): string[] => {
  const blocks: string[] = [];
  let open: string[] = [];
  let isCode = false;
  const end = (): void => {
    if (open.length > 0) blocks.push(open.join(' '));
    open = [];
  };
  for (const line of text.split('\n')) {
    if (codeBlockPattern.test(line)) {
      end();
      isCode = !isCode;
      continue;
    }
    if (isCode) continue;
    if (line.trim() === '' || blockMarkPattern.test(line)) end();
    const lineText = toPlainText(line.replace(blockMarkPattern, ''));
    if (lineText !== '') open.push(lineText);
  }
  end();
  return blocks;
};

/** Returns the sentences of a passage in linear time. */
export const splitSentences = (text: string): string[] =>
  splitBlocks(text).flatMap((block) =>
    [...sentenceSegmenter.segment(block)]
      .map(({ segment }) => segment.trim())
      .filter((each) => each.length >= minSentenceLength)
      .map((each) => (each.length > maxSentenceLength ? `${each.slice(0, maxSentenceLength).toWellFormed()} …` : each)),
  );

export interface CitedSentence {
  readonly text: string;
  /** Indexes in the list of passages */
  readonly passages: readonly number[];
}

export interface BestSentences {
  readonly sentences: readonly CitedSentence[];
  /** Why there are no sentences */
  readonly reason: string | null;
}

/** Minimum score relative to the first passage; passages with lower scores are off-topic */
const minRelativeScore = 0.4;
/** Minimum share of the weight of a question's words that the first passage must contain */
const minWeightShare = 0.25;
const maxSentences = 6;
const maxSentencesPerPassage = 2;

const passageStems = ({ origin, headings, text }: FoundPassage): Set<string> =>
  stemsOf([origin.title, ...headings, text].join('\n'));

/** Returns the weight of each stem of the question, by how few of the found passages contain it. */
const stemWeights = (question: string, stems: readonly ReadonlySet<string>[]): ReadonlyMap<string, number> =>
  new Map(
    [...stemsOf(question)].map((stem) => {
      const having = stems.filter((each) => each.has(stem)).length;
      return [stem, Math.log(1 + (stems.length + 1) / (having + 0.5))];
    }),
  );

const weightShare = (weights: ReadonlyMap<string, number>, stems: ReadonlySet<string>): number => {
  let matchedWeight = 0;
  let totalWeight = 0;
  for (const [stem, weight] of weights) {
    totalWeight += weight;
    if (stems.has(stem)) matchedWeight += weight;
  }
  return totalWeight === 0 ? 0 : matchedWeight / totalWeight;
};

/**
 * Returns the sentences of the best passages that are most relevant to the question, in passage order. A sentence that
 * occurs in several passages cites all of them.
 */
export const bestSentences = (question: string, found: readonly FoundPassage[]): BestSentences => {
  const stems = found.map(passageStems);
  const weights = stemWeights(question, stems);
  const [first] = found;
  if (first === undefined || weightShare(weights, stems[0] ?? new Set()) < minWeightShare)
    return { sentences: [], reason: 'unknown, because no passage contains an answer to the question' };
  const fair = found.flatMap((passage, index) =>
    passage.score >= minRelativeScore * first.score ? [{ passage, index }] : [],
  );
  const candidates = fair.flatMap(({ passage, index }) =>
    splitSentences(passage.text)
      .map((text, place) => ({
        text,
        index,
        place,
        rank: weightShare(weights, stemsOf(text)) + (0.5 * passage.score) / first.score,
      }))
      .sort((one, other) => other.rank - one.rank || one.place - other.place)
      .slice(0, maxSentencesPerPassage),
  );
  const places = new Map<string, number[]>();
  for (const { text, index } of candidates) places.set(text, [...(places.get(text) ?? []), index]);
  const chosen = candidates
    .filter(({ text, index }) => places.get(text)?.[0] === index)
    .sort((one, other) => other.rank - one.rank)
    .slice(0, maxSentences)
    .sort((one, other) => one.index - other.index || one.place - other.place);
  const sentences = chosen.map(({ text }) => ({ text, passages: [...new Set(places.get(text) ?? [])] }));
  return {
    sentences,
    reason: sentences.length === 0 ? 'the passages contain no sentences: read the passages themselves' : null,
  };
};
