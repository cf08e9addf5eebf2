"""One run of every kind that the target hf has: its task, its settings and the class it becomes."""

LAYER = ("model.norm='layer'",)
POST = (*LAYER, "model.norm_order='post'")
BIASED = ("model.biases=true", "model.mixer.biases=true")
LEARNED = ("model.position={kind='learned', positions=61}",)
ROTARY = ("model.position={kind='rotary', base=100.0}",)
BUCKETS = ("model.position={kind='relative', positions=31, buckets=10}",)
NORMED_EMBEDDING = ("model.embedding.norm=true",)
GELU = ("model.activation='gelu'",)
DOT = ("model.mixer.score='dot'",)
BERT = (*POST, *BIASED, *LEARNED, *NORMED_EMBEDDING, *GELU, "model.scaled_embedding=false")
MASKS = ("model.head.transform=true", "model.head.bias=true", "text.tokenizer='wordpiece'")
KINDS = {
    "marian": ("translation", POST, "MarianMTModel"),
    "marian, biased": (
        "translation",
        (*POST, *BIASED, *GELU, "model.head.bias=true"),
        "MarianMTModel",
    ),
    "marian, learned": ("translation", (*POST, *LEARNED, *DOT), "MarianMTModel"),
    "pegasus": ("translation", LAYER, "PegasusForConditionalGeneration"),
    "pegasus, biased": (
        "summarization",
        (*LAYER, *BIASED, *LEARNED, "model.scaled_embedding=false", "model.decoder_depth=1"),
        "PegasusForConditionalGeneration",
    ),
    "bart": ("translation", (*POST, *NORMED_EMBEDDING, *LEARNED), "BartForConditionalGeneration"),
    "mbart": ("translation", (*LAYER, *NORMED_EMBEDDING, *BIASED), "MBartForConditionalGeneration"),
    "t5": ("translation", BUCKETS, "T5ForConditionalGeneration"),
    "t5, gated": (
        "translation",
        (*BUCKETS, *DOT, "model.activation='swiglu'", "model.scaled_embedding=false"),
        "T5ForConditionalGeneration",
    ),
    "arcee": ("language-modelling", ROTARY, "ArceeForCausalLM"),
    "arcee, biased": (
        "language-modelling",
        (*ROTARY, *DOT, "model.mixer.biases=true", "model.tied=false"),
        "ArceeForCausalLM",
    ),
    "llama": (
        "language-modelling",
        (*ROTARY, "model.activation='swiglu'", "model.scaled_embedding=false"),
        "LlamaForCausalLM",
    ),
    "qwen3": ("language-modelling", (*ROTARY, *DOT, "model.mixer.normed=true"), "Qwen3ForCausalLM"),
    "qwen3, gated": (
        "language-modelling",
        (*ROTARY, "model.mixer.normed=true", "model.activation='swiglu'"),
        "Qwen3ForCausalLM",
    ),
    "gpt2": (
        "language-modelling",
        (*LAYER, *BIASED, *LEARNED, *GELU, "model.scaled_embedding=false"),
        "GPT2LMHeadModel",
    ),
    "gpt2, sinusoidal": ("language-modelling", (*LAYER, *DOT), "GPT2LMHeadModel"),
    "bert, masks": ("masked-pretraining", (*BERT, *MASKS), "BertForMaskedLM"),
    "bert, masks, byte pairs": (
        "masked-pretraining",
        (*BERT, *MASKS, "text.tokenizer='bpe'"),
        "BertForMaskedLM",
    ),
    "bert, untied": (
        "masked-pretraining",
        (*BERT, *MASKS, "model.tied=false", "text.lowercase=true"),
        "BertForMaskedLM",
    ),
    "bert, pairs": (
        "masked-pretraining",
        (*BERT, *MASKS, "model.embedding.segments=2", "pretraining.pairs='next-sentence'"),
        "BertForPreTraining",
    ),
    "megatron, pairs": (
        "masked-pretraining",
        (*LAYER, *LEARNED, *GELU, *MASKS, "pretraining.pairs='next-sentence'"),
        "MegatronBertForPreTraining",
    ),
    "roberta, masks": (
        "masked-pretraining",
        (*LAYER, *LEARNED, *GELU, *MASKS, *NORMED_EMBEDDING),
        "RobertaPreLayerNormForMaskedLM",
    ),
    "bert, labels": (
        "classification",
        (*BERT, "model.head.pooling='cls'"),
        "BertForSequenceClassification",
    ),
    "bert, two texts": (
        "sentence-pair",
        (*BERT, "model.head.pooling='cls'", "model.embedding.segments=2"),
        "BertForSequenceClassification",
    ),
    "bert, two texts without segments": (
        "sentence-pair",
        (*BERT, "model.head.pooling='cls'"),
        "BertForSequenceClassification",
    ),
    "roberta, labels": (
        "classification",
        (*LAYER, *NORMED_EMBEDDING, "model.head.pooling='cls'", "model.activation='relu'"),
        "RobertaPreLayerNormForSequenceClassification",
    ),
    "bert, tags": ("tagging", BERT, "BertForTokenClassification"),
    "megatron, tags": (
        "tagging",
        (*LAYER, "text.tokenizer='wordpiece'", "text.lowercase=true"),
        "MegatronBertForTokenClassification",
    ),
    "bert, states": ("document-pretraining", (*BERT, "text.tokenizer='words'"), "BertModel"),
    "roberta, states": (
        "document-pretraining",
        (*LAYER, *NORMED_EMBEDDING, "text.tokenizer='unigram'"),
        "RobertaPreLayerNormModel",
    ),
}
KINDS["roberta, masks without pairs"] = (
    "masked-pretraining",
    (*LAYER, *LEARNED, *GELU, *MASKS, *NORMED_EMBEDDING, "pretraining.pairs='next-sentence'"),
    "RobertaPreLayerNormForMaskedLM",
)
