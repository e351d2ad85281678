/**
 * Estimates how hard one password is to guess, and exits. It runs in a separate thread, because loading the dictionaries
 * and estimating a complex password take hundreds of milliseconds.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

/** Data with which the thread starts. */
export interface GuessesRequest {
  readonly password: string;
  /** Words that an attacker would try first. */
  readonly knownWords: readonly string[];
}

const { password, knownWords } = workerData as GuessesRequest;
/**
 * Number of characters that are estimated: the time grows with the square of the length, and a password whose first 64
 * characters are hard to guess needs no further check.
 */
const maxLength = 64;
const estimate = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength }).check(password, [...knownWords]);
parentPort?.postMessage(estimate.guesses);
