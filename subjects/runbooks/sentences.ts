/** Sentences of passages, ranked by relevance to a question */
import { addToList } from '../../schemas/add-to-list.ts';
import { isModelInstruction } from '../agents/instructions.ts';
import type { FoundPassage } from './passage-index.ts';
import { toStems } from './words.ts';

const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const codeBlockPattern = /^ {0,3}(?:`{3,}|~{3,})/;
/** Start of a list item, a quotation or a table row */
const blockMarkPattern = /^\s{0,16}(?:[-*+>|]|\d{1,3}[.)])\s+/;
const minSentenceLength = 12;
const maxSentenceLength = 600;

/** Removes link targets: `[words](address)` becomes `words`. */
const removeLinkTargets = (text: string): string => {
  let result = '';
  let position = 0;
  for (let middle = text.indexOf(']('); middle >= 0; middle = text.indexOf('](', position)) {
    const begin = text.lastIndexOf('[', middle);
    const endBlock = text.indexOf(')', middle);
    if (endBlock < 0) break;
    const isLink = begin >= position;
    result += isLink ? text.slice(position, begin) + text.slice(begin + 1, middle) : text.slice(position, middle + 2);
    position = isLink ? endBlock + 1 : middle + 2;
  }
  return result + text.slice(position);
};

/** Returns readable text: link labels without targets, and no emphasis. Code retains its marks. */
const toPlainText = (text: string): string => removeLinkTargets(text).replaceAll('**', '').replaceAll('__', '').trim();

/** Returns blocks of prose: paragraphs and list items. Code blocks contain no sentences. */
const splitBlocks = (text: string): string[] => {
  const blocks: string[] = [];
  let openLines: string[] = [];
  let isCode = false;
  const endBlock = (): void => {
    if (openLines.length > 0) blocks.push(openLines.join(' '));
    openLines = [];
  };
  for (const line of text.split('\n')) {
    if (codeBlockPattern.test(line)) {
      endBlock();
      isCode = !isCode;
      continue;
    }
    if (isCode) continue;
    if (line.trim() === '' || blockMarkPattern.test(line)) endBlock();
    const lineText = toPlainText(line.replace(blockMarkPattern, ''));
    if (lineText !== '') openLines.push(lineText);
  }
  endBlock();
  return blocks;
};

/** Returns the sentences of a passage in linear time. */
export const splitSentences = (text: string): string[] =>
  splitBlocks(text).flatMap((block) =>
    [...sentenceSegmenter.segment(block)]
      .map(({ segment }) => segment.trim())
      .filter((value) => value.length >= minSentenceLength && !isModelInstruction(value))
      .map((value) =>
        value.length > maxSentenceLength ? `${value.slice(0, maxSentenceLength).toWellFormed()} …` : value,
      ),
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

const getPassageStems = ({ origin, headings, text }: FoundPassage): Set<string> =>
  toStems([origin.title, ...headings, text].join('\n'));

/** Returns the weight of each stem of the question, by how few of the found passages contain it. */
const computeStemWeights = (question: string, stems: readonly ReadonlySet<string>[]): ReadonlyMap<string, number> =>
  new Map(
    [...toStems(question)].map((stem) => {
      const matchCount = stems.filter((each) => each.has(stem)).length;
      return [stem, Math.log(1 + (stems.length + 1) / (matchCount + 0.5))];
    }),
  );

const computeWeightShare = (weights: ReadonlyMap<string, number>, stems: ReadonlySet<string>): number => {
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
export const selectBestSentences = (question: string, passages: readonly FoundPassage[]): BestSentences => {
  const stems = passages.map(getPassageStems);
  const weights = computeStemWeights(question, stems);
  const [first] = passages;
  if (first === undefined || computeWeightShare(weights, stems[0] ?? new Set()) < minWeightShare)
    return { sentences: [], reason: 'unknown, because no passage contains an answer to the question' };
  const relevantPassages = passages.flatMap((passage, index) =>
    passage.score >= minRelativeScore * first.score ? [{ passage, index }] : [],
  );
  const candidates = relevantPassages.flatMap(({ passage, index }) =>
    splitSentences(passage.text)
      .map((text, position) => ({
        text,
        index,
        place: position,
        rank: computeWeightShare(weights, toStems(text)) + (0.5 * passage.score) / first.score,
      }))
      .sort((left, right) => right.rank - left.rank || left.place - right.place)
      .slice(0, maxSentencesPerPassage),
  );
  const indexesByText = new Map<string, number[]>();
  for (const { text, index } of candidates) addToList(indexesByText, text, index);
  const bestCandidates = candidates
    .filter(({ text, index }) => indexesByText.get(text)?.[0] === index)
    .sort((left, right) => right.rank - left.rank)
    .slice(0, maxSentences)
    .sort((left, right) => left.index - right.index || left.place - right.place);
  const sentences = bestCandidates.map(({ text }) => ({ text, passages: [...new Set(indexesByText.get(text) ?? [])] }));
  return {
    sentences,
    reason: sentences.length === 0 ? 'the passages contain no sentences: read the passages themselves' : null,
  };
};
