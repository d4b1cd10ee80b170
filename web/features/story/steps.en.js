// The steps of the story in English. *x* is a quotation, **x** is emphasized, {x} is a placeholder.

export const steps = {
  next: {
    title: 'What comes next?',
    text: [
      'A small language model has read one book, *Moby-Dick*. It does one thing: it reads a text ' +
        'and says how likely ' +
        'everything it knows is to come next.',
    ],
    tasks: ['Write a few words of your own at the top, and see what it guesses.'],
    seen: [
      'Its first guess after “{after}” is “{guess}”, {p}. That is all it does. *write on* only repeats it: guess, ' +
        'add the guess to the text, guess again.',
    ],
  },
  tokens: {
    title: 'Tokens',
    text: [
      'The model reads no letters. It reads **tokens**: pieces of text, each with a number. A common word is one ' +
        'token, a rare word is several.',
    ],
    tasks: ['Find a word of more than one token, here or in the text at the top, and point at it.'],
    seen: ['*{word}* is {count} tokens: {parts}. The model sees only their numbers: {ids}.'],
  },
  back: {
    title: 'Looking back',
    text: [
      'A **head** lets every token look back at those before it. Each row of the picture is a token that looks. ' +
        'The stronger the colour, the more it looks there.',
    ],
    tasks: ['Find a token that looks mostly at itself, and point at its row.'],
    seen: [
      '*{token}* gives itself {weight}. A row adds up to {total}: a token that looks more at one place looks less at ' +
        'the others.',
    ],
    first: '*{token}* is the first token. It can only look at itself: {weight}. Every row adds up to {total}.',
  },
  why: {
    title: 'Why there?',
    text: [
      'A token’s **query** says what it looks for; another’s **key** says what it can be found by. Multiplied ' +
        'pair by pair and summed, they give a **score**. **Softmax** turns the scores of a row into weights.',
    ],
    tasks: ['Turn the temperature at the bottom up to 2 or more. The scores are divided by it.'],
    seen: [
      'At temperature {temperature} the score went from {scoreFrom} to {scoreTo}, and the weight from {from} to ' +
        '**{to}**. Scores that lie closer together share the attention.',
    ],
  },
  fetched: {
    title: 'What is fetched?',
    text: [
      'Each token also has a **value**: what it passes on to those who look at it. The head mixes the values by ' +
        'their weights. The mixture goes on through the model and moves the guess.',
    ],
    tasks: ['Under *Next token*, choose another guess and see what this head adds to it.'],
    seen: ['To *{one}* this head adds {addsOne}, to *{other}* {addsOther}. So it favours *{winner}*.'],
  },
  ahead: {
    title: 'Not ahead',
    text: [
      'No token may look at what comes after it: then it would not have to guess. The **mask** hides what lies ' +
        'ahead, and so half of the picture is empty.',
    ],
    tasks: ['Lift the mask: in the line at the bottom, change it from *causal* to *none*.'],
    tasksOnPhone: ['Lift the mask: press ⋯ at the bottom, and change it from *causal* to *none*.'],
    seen: [
      'Now it cheats. After *{token}*, token {place}, it gave *{next}* {from}. Now it sees it there, and gives it ' +
        '**{to}**. Over the whole text the right token gets {meanTo} instead of {meanFrom}.',
    ],
  },
  many: {
    title: 'Many heads',
    text: [
      'This model has five layers of four heads. Each small picture is one of them, and all look in ways of their ' +
        'own. Some do one clear thing.',
    ],
    tasks: [
      'Find a head in which nearly every token looks at the one **just before** it.',
      'Find the head in which the last token looks at what **came after the same words** before.',
    ],
    seen: [
      'You found one: layer {layer}, head {head}. On average it gives {score} to the token before.',
      'You found it: layer {layer}, head {head} gives {score} to what came next the last time. It is an ' +
        '**induction head**.',
    ],
  },
  matter: {
    title: 'Does it matter?',
    text: [
      'This head looks at what came after the same words before. Does the guess depend on it? A pattern is not yet ' +
        'a reason.',
    ],
    tasks: [
      'Switch it off: at the bottom, this head *off*.',
      'Is it the only one? Choose heads of the layer below and switch them off, one at a time. Find **another** that ' +
        'the guess needs. The number under a head is the change, in percentage points.',
      'Now find a head that makes **no difference**.',
    ],
    seen: [
      'You switched layer {layer}, head {head} off: *{text}* fell from {from} to **{to}**. The guess needs this head.',
      'Layer {layer}, head {head} costs {points} as well. So it takes **two heads**: without either, the guess falls.',
      'Layer {layer}, head {head} costs {points}: this guess does not need it. Switching off is how one knows.',
    ],
  },
  train: {
    short: 'train one',
    title: 'Where do they come from?',
    text: [
      'Nobody built these heads. A new model starts with random numbers and looks everywhere at once. It learns ' +
        'from mistakes in guessing, and such heads form by themselves.',
    ],
    tasks: ['Train a small model now, and watch its heads form.'],
    act: 'Train one',
    seen: ['This was the story. Now write, switch off and compare: the whole page is yours.'],
  },
};
