/** Two short tones, the second higher. */
const TONES_HZ = [660, 990];
const TONE_S = 0.12;
const VOLUME = 0.15;

let context: AudioContext | undefined;

/** Whether the browser lets this page make a sound, which it does after a click or a key press. */
function canSound(): boolean {
  return navigator.userActivation?.hasBeenActive ?? false;
}

/** Plays the alert's sound, but only if {@link canSound}: otherwise browsers log a warning. */
export function playSound(): void {
  if (!canSound() || typeof AudioContext === "undefined") return;
  context ??= new AudioContext();
  void context.resume().catch(() => {});
  for (const [index, hz] of TONES_HZ.entries()) {
    const startS = context.currentTime + index * TONE_S;
    const tone = new OscillatorNode(context, { frequency: hz });
    const gain = new GainNode(context, { gain: 0 });
    gain.gain.setValueAtTime(VOLUME, startS);
    gain.gain.exponentialRampToValueAtTime(0.001, startS + TONE_S);
    tone.connect(gain).connect(context.destination);
    tone.start(startS);
    tone.stop(startS + TONE_S);
  }
}
