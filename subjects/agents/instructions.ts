/** Finds texts that address a model: in the answers of tools, and in documents whose sentences answer a question. */

/** Words that, together in one sentence, address a model in any document. */
const modelSentences: readonly (readonly RegExp[])[] = [
  [
    /\b(?:ignore|disregard|forget|override)\b/i,
    /\b(?:previous|prior|above|earlier|all|any|your|system)\b/i,
    /\b(?:instructions?|prompts?|rules?|guidelines?|directions)\b/i,
  ],
  [/\banswer (?:only )?with\b/i, /\b(?:keys?|passwords?|secrets?|tokens?|credentials?)\b/i],
  [/^\s*(?:system|assistant|user|developer)\s*:/i],
  [/\byou are now\b|\b(?:as an ai|language model|system prompt|jailbreak)\b/i],
  [/\b(?:if you are|as|you are) an? (?:ai|llm|language model|assistant|automated|coding agent)\b/i],
];

/** Words that, together in one sentence of the answer of a tool, address a model. Runbooks say the same to people. */
const toolAnswerSentences: readonly (readonly RegExp[])[] = [
  [
    /\b(?:do not|don['’]t|never|without)\b/i,
    /\b(?:tell|telling|inform|informing|mention|mentioning|notify|notifying|alert|alerting)\b/i,
    /\b(?:user|users|human|operator|developer|owner)\b/i,
  ],
  [
    /\b(?:ai|llm|language model|coding agent|assistant|claude|codex|gemini|copilot|chatgpt)s?\b/i,
    /\b(?:must|should|need to|have to|required to|please)\b/i,
    /\b(?:run|execute|send|upload|post|fetch|download|read|delete|install|curl|add|write|open|include)\b/i,
  ],
  [/^(?:\[?system\]?|<\/?system>|<important>|<instructions?>|#{1,4} ?(?:system|new) (?:prompt|instructions?))[: \]>]/i],
  [/\b(?:new|hidden|secret|updated|real|actual) (?:system )?(?:instructions?|prompt|task|objective)s? ?[:-]/i],
];
const commandPattern = /\b(?:run|execute|send|upload|curl|wget|ignore|exfiltrate|base64)\b/i;

/** Characters that people do not see, but models read. */
const invisiblePattern = /[\u{E0020}-\u{E007F}]{4}|(?:[\u200B\u200C\u2060\uFEFF]){8}/u;

/** Files whose purpose is to instruct agents. */
const instructionFilePattern =
  /(?:^|[/\\\s"'])(?:AGENTS|CLAUDE|GEMINI|CODEX|QWEN)(?:\.local)?\.md\b|\.cursorrules\b|\.cursor\/rules|copilot-instructions\.md|\.windsurfrules\b|\.clinerules\b|CONVENTIONS\.md/i;

/** Returns whether the input of a tool call names a file whose purpose is to instruct agents. */
export const isInstructionFile = (callText: string): boolean => instructionFilePattern.test(callText);

const containsAll = (sentence: string, sentences: readonly (readonly RegExp[])[]): boolean =>
  sentences.some((patterns) => patterns.every((pattern) => pattern.test(sentence)));

/** Returns whether a sentence of a document addresses a model rather than people. */
export const isModelInstruction = (sentence: string): boolean =>
  containsAll(sentence.slice(0, maxSentenceLength).normalize('NFKC'), modelSentences);

const maxLength = 65_536;
const contextLength = 1_024;

const maxSentenceLength = 600;
const maxSentences = 5_000;

/** Returns where a comment of HTML with a command begins; -1 if there is none. */
const findComment = (text: string): number => {
  for (let start = text.indexOf('<!--'); start >= 0; start = text.indexOf('<!--', start + 4)) {
    const end = text.indexOf('-->', start);
    if (end < 0) return -1;
    if (commandPattern.test(text.slice(start, Math.min(end, start + maxSentenceLength)))) return start;
  }
  return -1;
};

/** Returns where a sentence that addresses a model begins; -1 if there is none. */
const findSentence = (text: string): number => {
  let start = 0;
  for (const sentence of text.split(/(?<=[.!?\n])/, maxSentences)) {
    const words = sentence.slice(0, maxSentenceLength).trim();
    if (containsAll(words, modelSentences) || containsAll(words, toolAnswerSentences)) return start;
    start += sentence.length;
  }
  return -1;
};

/** Returns the part of a text that addresses a model; an empty text if none does. */
export const findInstructions = (text: string): string => {
  const searched = text.slice(0, maxLength);
  const found = [findSentence(searched), findComment(searched), searched.search(invisiblePattern)].filter(
    (position) => position >= 0,
  );
  if (found.length === 0) return '';
  const position = Math.min(...found);
  return searched
    .slice(Math.max(0, position - contextLength), position + maxSentenceLength + contextLength)
    .toWellFormed();
};
