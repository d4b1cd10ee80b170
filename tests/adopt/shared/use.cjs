const { load } = require('headlight-attention');
const { readNpy, writeNpy } = require('headlight-attention/formats');
const { computed } = require('./computed.js');

computed({ load, readNpy, writeNpy }).then((said) => console.log(JSON.stringify(said)));
