// The steps of the story in English. *x* is a quotation, **x** is emphasized, {x} is a placeholder.

export const steps = {
  next: {
    title: 'What comes next?',
    text: [
      'A small language model was trained on one book, *Moby-Dick*. It does one thing: it reads a text and says how ' +
        'likely each word is to come next.',
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
      'The model does not read letters. It reads **tokens**: pieces of text, each with a number. A common word is ' +
        'one token, a rare word is several.',
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
        '**{to}**. Closer scores share the attention more evenly.',
    ],
  },
  fetched: {
    title: 'What is fetched?',
    text: [
      'Each token also has a **value**: numbers that it passes on. The head mixes the values by their weights. The ' +
        'mixture continues through the model and changes the guess.',
    ],
    tasks: ['Under *Next token*, choose another guess and see how much this head adds to it.'],
    seen: ['This head adds {addsOne} to *{one}* and {addsOther} to *{other}*. So it favours *{winner}*.'],
  },
  ahead: {
    title: 'Not ahead',
    text: [
      'No token may look at later tokens: otherwise it would not have to guess. The **mask** hides them, so half of ' +
        'the picture is empty.',
    ],
    tasks: ['Remove the mask: press *more* at the bottom, and change it from *causal* to *none*.'],
    seen: [
      'Now it cheats. After *{token}*, token {place}, it gave *{next}* {from}. Now it sees the answer, and gives it ' +
        '**{to}**. On average over the text the right token gets {meanTo} instead of {meanFrom}.',
    ],
  },
  many: {
    title: 'Many heads',
    text: [
      'This model has five layers of four heads. Each small picture is one of them, and each looks at different ' +
        'tokens. Some have one clear role.',
    ],
    tasks: [
      'Find a head in which nearly every token looks at the one **just before** it.',
      'Find the head in which the last token looks at what **came after the same words** before.',
    ],
    seen: [
      'You found one: layer {layer}, head {head}. Its mean weight on the token before is {score}.',
      'You found it: layer {layer}, head {head} gives {score} to what came next the last time. It is an ' +
        '**induction head**.',
    ],
  },
  matter: {
    title: 'Does it matter?',
    text: [
      'This head looks at what came after the same words before. Does the guess depend on it? A pattern alone does ' +
        'not prove it.',
    ],
    tasks: [
      'Switch it off: the switch is next to its name.',
      'Is it the only one? Choose heads of the layer below and switch them off, one at a time. Find **another** that ' +
        'the guess needs. The number under a head is the change, in percentage points.',
      'Now find a head that makes **no difference**.',
    ],
    firstTaskOnPhone: 'Switch it off: press *more* at the bottom, and set this head to *off*.',
    seen: [
      'You switched layer {layer}, head {head} off: *{text}* fell from {from} to **{to}**. The guess needs this head.',
      'Layer {layer}, head {head} costs {points} as well. So it takes **two heads**: without either, the guess falls.',
      'Layer {layer}, head {head} costs {points}: this guess does not need it. Only switching it off shows this.',
    ],
  },
  train: {
    short: 'train one',
    title: 'Where do they come from?',
    text: [
      'Nobody designed these heads. A new model starts with random numbers and looks everywhere at once. It learns ' +
        'from its wrong guesses, and such heads form by themselves.',
    ],
    tasks: ['Train a small model now, and watch its heads form.'],
    act: 'Train one',
    seen: ['This is the end of the story. Now write, switch heads off and compare.'],
  },
};
