/* Validates .glb files with the Khronos glTF validator and prints one JSON object a file.
 *
 * usage: HOTBUNK_NODE_MODULES=DIR node gltf_validate.js FILE...
 * DIR is a node_modules folder that holds gltf-validator. Exit status: 0 all files without errors,
 * 1 errors found, 3 the validator is not there. */
'use strict';

const fs = require('fs');
const path = require('path');

function loadValidator() {
    const folder = process.env.HOTBUNK_NODE_MODULES;
    try {
        return require(folder ? path.resolve(folder, 'gltf-validator') : 'gltf-validator');
    } catch (error) {
        console.error(`gltf-validator not found: ${error.message.split('\n')[0]}`);
        process.exit(3);
    }
}

async function main(files) {
    const validator = loadValidator();
    let errors = 0;
    for (const file of files) {
        const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)));
        const { numErrors, numWarnings, numInfos, messages } = report.issues;
        errors += numErrors;
        console.log(JSON.stringify({ file, numErrors, numWarnings, numInfos, messages: messages.slice(0, 20) }));
    }
    process.exitCode = errors ? 1 : 0;
}

main(process.argv.slice(2)).catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
});
