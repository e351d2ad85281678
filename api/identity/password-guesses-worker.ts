/**
 * Estimates one password and exits. In a separate thread, since the dictionaries and a hard estimate take hundreds of
 * milliseconds.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

const { password, knownWords } = workerData as { readonly password: string; readonly knownWords: readonly string[] };
/**
 * The time of the estimate grows with the square of the length, and a longer prefix is not needed to be hard to guess.
 */
const maxLength = 64;
const estimate = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength }).check(password, [...knownWords]);
parentPort?.postMessage(estimate.guesses);
