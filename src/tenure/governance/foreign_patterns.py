"""Attack patterns in languages other than English, in the folded form: small letters, no marks over letters.

Each language has its verbs for "ignore" with its words for the instructions before, for "without confirmation"
and "disable the check", for granting access, for sending to an address, and for not telling the user. What a
language negates ("Ignoriere niemals ...") speaks of the act and breaks no rule.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import NamedTuple


class Foreign(NamedTuple):
    """One pattern of one language.

    Attributes:
        rule: the rule that a match breaks.
        stems: one of these must occur, else the pattern need not be tried.
        pattern: in folded form.
        negation: what in or beside a match turns its meaning round; empty if the pattern is a negation itself.
        denial: the negations of the language: "not without confirmation" is a demand.
    """

    rule: str
    stems: frozenset[str]
    pattern: str
    negation: str
    denial: str = ""


def _fold(text: str) -> str:
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if unicodedata.category(c) != "Mn")
    return unicodedata.normalize("NFC", plain)


_G = r"[^.;!?\n\u3002\uff1b]"
_A = r"(?:[\w.%+'-]+@[\w-]+(?:\.[\w-]+)+|\[redacted:(?:email|phone|bank-account)\]|https?://\S+)"
_IGNORE, _CHECK, _POWER, _SEND, _HUSH = "ignore-instructions", "disabled-check", "capability", "recipient", "secrecy"


def _ordered(verbs: str, others: str, things: str) -> str:
    """A verb, and in the same clause one of the things with a word that says which: "ignora todas las reglas"."""
    return rf"(?:{verbs})(?={_G}{{0,90}}(?:{others})){_G}{{0,70}}?(?:{things})"


# Left as it is by the formatter: a language should be seen whole.
# fmt: off
# Language, its negations, and per pattern: rule (with `!` if the pattern is a negation itself), stems, pattern.
_LANGUAGES: tuple[tuple[str, str, tuple[tuple[str, str, str], ...]], ...] = (
    ("Spanish", r"\b(?:no|nunca|jamás|evita|evite|prohibido)\b", (
        (_IGNORE,
            "instruccion|regla|directri|norma|indicacion|orden|leccion|política", _ordered(
            r"\b(?:ignor[ae]\w*|olvid[ae]\w*|descart[ae]\w*|haz caso omiso|haga caso omiso|anul[ae]\w*|desobedec\w+|pasa por alto)\b",
            r"todas|cualquier|anterior|previa|sistema|\btus\b|\bsus\b|otras|demás|arriba",
            r"instruccion\w*|reglas?|directri\w+|normas?|indicacion\w*|órdenes|lecciones|políticas?")),
        ("!" + _IGNORE, "instruccion|regla|norma",
            r"\bno (?:sigas?|obedezcas?|hagas? caso)\b[^.;\n]{0,50}(?:instrucciones|reglas|normas)[^.;\n]{0,20}(?:anterior|previa"
            r"|sistema)"),
        ("!" + _CHECK,
            "confirmación|verifi|aprobación|autorización|consentimiento|permiso|comprueb",
            r"\bsin (?:pedir |solicitar |esperar |requerir |obtener )?(?:la |el |su |ninguna |ningún |previa )*(?:confirmación|confirmar"
            r"|verificación|verificar|aprobación|autorización|consentimiento|permiso)\b|\bno (?:pidas?|solicites?|esperes?|verifiques?"
            r"|compruebes?)\b[^.;\n]{0,30}(?:confirmación|aprobación|permiso|identidad|autorización)"),
        (_CHECK,
            "verifica|validación|comproba|confirmación|seguridad|autenticación",
            r"\b(?:desactiv[ae]\w*|deshabilit[ae]\w*|omit[ae]\b|omitir|salt(?:a|e|arse|ate)\b|apag[ae]\b"
            r"|elud[ae])[^.;\n]{0,30}(?:verificaci\w+|validaci\w+|comprobaci\w+|confirmaci\w+|control(?:es)? de seguridad|autenticación"
            r"|revisión)"),
        (_POWER,
            "acceso|permiso|privilegio|administrador",
            r"\b(?:concede|otorga|da(?:le|te)?|asigna|conceda|otorgue)\b[^.;\n]{0,40}(?:acceso (?:total|completo|de administrador"
            r"|ilimitado)|(?:permisos|privilegios|derechos) de (?:administrador|root)|todos los permisos)|\b(?:tienes"
            r"|estás) (?:ahora )?(?:acceso total|permiso para todo|autorizado a (?:todo|cualquier))"),
        (_SEND, "@|http|[redacted",
            rf"\b(?:envía\w*|enviar|envíe\w*|reenvía\w*|reenviar|manda\w*|copia|transfiere|transferir|añade|agrega"
            rf"|incluye)\b{_G}{{0,90}}?(?<![='\"(]){_A}"),
        ("!" + _HUSH, "usuario|cliente",
            r"\b(?:no (?:se )?lo digas|no (?:informes?|avises?|notifiques?)|sin (?:avisar|informar|decir))\b[^.;\n]{0,20}(?:usuario"
            r"|cliente|nadie)"),
    )),
    ("Portuguese", r"\b(?:não|nunca|jamais|evite)\b", (
        (_IGNORE,
            "instruç|regra|diretri|norma|ordens|política", _ordered(
            r"\b(?:ignor[ae]\w*|esqueç[ae]\w*|esquece|desconsider[ae]\w*|descart[ae]\w*|desobedeç\w+)\b",
            r"todas|qualquer|anterior|prévia|sistema|\bsuas\b|outras|demais|acima",
            r"instruç\w*|regras?|diretri\w+|normas?|ordens|políticas?")),
        ("!" + _CHECK,
            "confirma|verifica|aprovação|autorização|consentimento|permissão",
            r"\bsem (?:pedir |solicitar |esperar |exigir |obter )?(?:a |o |sua |nenhuma |qualquer )*(?:confirmação|confirmar|verificação"
            r"|verificar|aprovação|autorização|consentimento|permissão)\b|\bnão (?:peça|solicite|espere"
            r"|verifique)\b[^.;\n]{0,30}(?:confirmação|aprovação|permissão|identidade|autorização)"),
        (_CHECK,
            "verificaç|validaç|confirmaç|segurança|autenticaç|checagem",
            r"\b(?:desativ[ae]\w*|desabilit[ae]\w*|pule|pular|ignore|contorn[ae]|deslig[ae])\b[^.;\n]{0,30}(?:verificação|validação"
            r"|confirmação|checagem|controles? de segurança|autenticação)"),
        (_POWER,
            "acesso|permiss|privilégio|administrador",
            r"\b(?:conceda|concede|dê|atribua|dá)\b[^.;\n]{0,40}(?:acesso (?:total|completo|de administrador|irrestrito)|(?:permissões"
            r"|privilégios) de (?:administrador|root)|todas as permissões)"),
        (_SEND, "@|http|[redacted",
            rf"\b(?:envi[ae]\w*|enviar|encaminh[ae]\w*|mand[ae]\w*|copi[ae]|transfir[ae]|transferir|adicion[ae]"
            rf"|inclu[ai])\b{_G}{{0,90}}?(?<![='\"(]){_A}"),
        ("!" + _HUSH, "usuário|cliente",
            r"\b(?:não (?:conte|diga|informe|avise|notifique)|sem (?:avisar|informar|contar))\b[^.;\n]{0,20}(?:usuário|cliente|ninguém)"),
    )),
    ("French", r"\b(?:ne|n'|jamais|pas|évite[rz]?)\b|n'", (
        (_IGNORE,
            "instruction|règle|directive|consigne|ordre|politique", _ordered(
            r"\b(?:ignore[rz]?|oublie[rz]?|néglige[rz]?|écarte[rz]?|outrepasse[rz]?|fai(?:s|tes) abstraction|contourne[rz]?|désobéi\w*)\b",
            r"toutes|tous|précédent|antérieur|système|\btes\b|\bvos\b|autres|ci-dessus",
            r"instructions?|règles?|directives?|consignes?|ordres|politiques?")),
        ("!" + _CHECK,
            "confirm|vérifi|approbation|autorisation|accord|consentement",
            r"\bsans (?:demander |attendre |exiger |obtenir )?(?:de |d'|la |l'|le |une |aucune |votre |leur |son )*(?:confirm\w+"
            r"|vérifi\w+|approbation|autorisation|accord|consentement)\b|\b(?:ne |n')(?:demande[zr]?|vérifie[zr]?|attends"
            r"|attendez)\b[^.;\n]{0,30}(?:confirmation|approbation|identité|autorisation)"),
        (_CHECK,
            "vérification|validation|contrôle|confirmation|sécurité|authentification",
            r"\b(?:désactive[rz]?|saute[rz]?|contourne[rz]?|supprime[rz]?|passe[rz]? outre|ignore[rz]?)\b[^.;\n]{0,30}(?:vérification"
            r"|validation|contrôles? de sécurité|étape de confirmation|confirmation|authentification)"),
        (_POWER,
            "accès|droits|privilèges|administrateur",
            r"\b(?:accorde[rz]?|donne[rz]?|attribue[rz]?|octroie|octroyez)\b[^.;\n]{0,40}(?:accès (?:complet|total|administrateur"
            r"|illimité)|(?:droits|privilèges) (?:d'|de )?(?:administrateur|root|complets)|tous les droits)"),
        (_SEND, "@|http|[redacted",
            rf"\b(?:envoie[sz]?|envoyez|envoyer|transfère[sz]?|transférez|transférer|transmet\w*|copie[zr]?|ajoute[zr]?|expédie[zr]?"
            rf"|inclu\w+)\b{_G}{{0,90}}?(?<![='\"(]){_A}"),
        ("!" + _HUSH, "utilisateur|client|personne",
            r"\b(?:ne (?:le |l')?(?:dis|dites|préviens|prévenez|informe[zr]?)|sans (?:prévenir|informer|avertir"
            r"|le dire))\b[^.;\n]{0,24}(?:utilisateur|client|personne)"),
    )),
    ("Italian", r"\b(?:non|mai|evita(?:re)?)\b", (
        (_IGNORE,
            "istruzion|regol|direttiv|norm|ordini|politic", _ordered(
            r"\b(?:ignor[ai]\w*|dimentic[ah]\w*|trascur[ai]\w*|scart[ai]\w*|aggir[ai]\w*|disobbedi\w+)\b",
            r"tutte|qualsiasi|precedent|sistema|\btue\b|altre|sopra", r"istruzion\w+|regole|direttiv\w+|norme|ordini")),
        ("!" + _CHECK,
            "conferma|verific|approvazione|autorizzazione|consenso",
            r"\bsenza (?:chiedere |attendere |richiedere |ottenere )?(?:la |l'|il |alcuna |nessuna )*(?:conferm\w+|verific\w+"
            r"|approvazione|autorizzazione|consenso)\b|\bnon (?:chiedere|verificare|attendere)\b[^.;\n]{0,30}(?:conferma|approvazione"
            r"|identità|autorizzazione)"),
        (_CHECK,
            "verific|validazione|controll|conferma|sicurezza|autenticazione",
            r"\b(?:disattiv[ai]\w*|disabilit[ai]\w*|salta(?:re)?|bypassa(?:re)?|aggira(?:re)?|ometti)\b[^.;\n]{0,30}(?:verific\w+"
            r"|validazione|controll\w+|conferma|autenticazione)"),
        (_POWER,
            "accesso|permess|privileg|amministratore",
            r"\b(?:concedi|concedere|dai|assegna|attribuisci)\b[^.;\n]{0,40}(?:accesso (?:completo|totale|amministratore|illimitato)"
            r"|(?:permessi|privilegi|diritti) (?:di |da )?(?:amministratore|root)|tutti i permessi)"),
        (_SEND, "@|http|[redacted",
            rf"\b(?:invia\w*|inviare|inoltra\w*|manda\w*|copia|trasferisci|aggiungi|includi)\b{_G}{{0,90}}?(?<![='\"(]){_A}"),
        ("!" + _HUSH, "utente|cliente",
            r"\b(?:non (?:dirlo|informare|avvisare|dire)|senza (?:avvisare|informare|dirlo))\b[^.;\n]{0,20}(?:utente|cliente|nessuno)"),
    )),
    ("German", r"\b(?:nicht|nie|niemals|kein\w*|vermeide\w*|statt|verboten)\b", (
        (_IGNORE,
            "anweisung|regel|richtlini|vorgabe|befehl|instruktion|vorschrift", _ordered(
            r"\b(?:ignorier\w*|vergiss|vergesst|vergessen sie|missachte\w*|übergeh\w*|umgeh\w*|verwirf|verwerfen|setz\w* dich über)\b",
            r"\balle|jede|vorherig|bisherig|frühere|obige|system|\bdeine|\bihre|andere|sonstige",
            r"anweisungen?|regeln?|richtlinien?|vorgaben?|befehle?|instruktionen?|vorschriften?")),
        ("!" + _IGNORE, "anweisung|regel|richtlini",
            r"\b(?:folge|befolge|beachte)\b[^.;\n]{0,50}(?:anweisungen|regeln|richtlinien)[^.;\n]{0,15}\b(?:nicht mehr|nicht länger)\b"),
        ("!" + _CHECK,
            "bestätig|prüf|genehmig|zustimmung|freigabe|rückfrage|verifi",
            r"\bohne (?:auf |um |eine[rn]? |die |vorherige |weitere |jede |zu )*(?:bestätigung|prüfung|überprüfung|genehmigung|zustimmung"
            r"|freigabe|rückfrage|verifizierung|nachfrage)\b|\b(?:frage?|bitte|prüfe?|warte|verifiziere)\b[^.;\n]{0,40}\bnicht (?:nach|um"
            r"|auf)?[^.;\n]{0,20}(?:bestätigung|genehmigung|identität|freigabe)"),
        (_CHECK,
            "freigabe|genehmigung|prüfung|validierung|bestätigung|kontrolle|sicherheit|authentifizierung|verifizierung",
            r"\b(?:deaktivier\w*|überspring\w*|umgeh\w*|schalte?\b|unterdrück\w*|entferne?"
            r"|lass\w*)\b[^.;\n]{0,40}(?:\w*(?:über)?prüfung\w*|validierung|bestätigung|sicherheits\w+|authentifizierung|verifizierung"
            r"|freigabe|genehmigung)\b"),
        (_POWER,
            "zugriff|rechte|berechtigung|administrator|vollzugriff",
            r"\b(?:gewähr\w*|gib|gebe?n?|erteil\w*|räum\w*|vergib|verleih\w*)\b[^.;\n]{0,40}(?:vollzugriff|uneingeschränkt\w+ zugriff"
            r"|vollen zugriff|admin\w*(?:rechte|zugriff)|root-?rechte|alle (?:rechte|berechtigungen))"),
        (_SEND, "@|http|[redacted",
            rf"\b(?:send\w*|schick\w*|leite?\b|weiterleit\w*|überweis\w*|kopier\w*|füge?|maile?)\b{_G}{{0,90}}?(?<![='\"(]){_A}"),
        ("!" + _HUSH,
            "nutzer|benutzer|kunde|niemand",
            r"\b(?:ohne (?:den |dem |die )?(?:nutzer|benutzer|kunden|anwender)\w*[^.;\n]{0,20}(?:informieren|sagen|benachrichtigen)"
            r"|(?:sag|sage|informiere|verrate)\b[^.;\n]{0,30}(?:nutzer|benutzer|kunden|niemand\w*)[^.;\n]{0,15}(?:nichts|nicht)?)"),
    )),
    ("Dutch", r"\b(?:niet|nooit|geen|vermijd)\b", (
        (_IGNORE,
            "instructie|regel|richtlijn|opdracht", _ordered(
            r"\b(?:negeer|negeren|vergeet|sla\b|omzeil|overtreed)\b",
            r"\balle|vorige|eerdere|voorgaande|bovenstaande|systeem|\bje\b|\buw\b|andere",
            r"instructies?|regels?|richtlijnen?|opdrachten?")),
        ("!" + _CHECK,
            "bevestig|controle|goedkeuring|toestemming|verificatie",
            r"\bzonder (?:om |te |een |enige |de )*(?:bevestiging|controle|goedkeuring|toestemming|verificatie|te vragen)"),
        (_CHECK,
            "controle|validatie|verificatie|bevestiging|beveiliging",
            r"\b(?:schakel|zet|sla|omzeil|deactiveer)\b[^.;\n]{0,40}(?:controle|validatie|verificatie|bevestiging"
            r"|beveiliging\w*)\b[^.;\n]{0,12}\b(?:uit|over|$)?"),
        (_SEND, "@|http|[redacted", rf"\b(?:stuur|verstuur|zend|mail|kopieer|voeg)\b{_G}{{0,90}}?(?<![='\"(]){_A}"),
    )),
    ("Polish", r"\b(?:nie|nigdy|unikaj)\b", (
        (_IGNORE,
            "instrukcj|polece|zasad|regu|wytyczn", _ordered(
            r"\b(?:zignoruj\w*|ignoruj\w*|zapomnij\w*|pomiń|omiń|odrzuć)\b",
            r"wszystki|poprzedni|wcześniejsz|systemow|\btwoje|inne|powyższ",
            r"instrukcj\w+|polece\w+|zasad\w*|regu\w+|wytyczn\w+")),
        ("!" + _CHECK,
            "potwierdz|weryfikacj|zgod|zatwierdz",
            r"\bbez (?:pytania o |żadne\w+ |prośby o |uzyskania )?(?:potwierdzeni\w+|weryfikacj\w+|zgod\w+|zatwierdzeni\w+)"),
        (_CHECK,
            "weryfikacj|walidacj|kontrol|potwierdz|zabezpiecz",
            r"\b(?:wyłącz\w*|pomiń|omiń|obejdź|dezaktywuj)\b[^.;\n]{0,30}(?:weryfikacj\w+|walidacj\w+|kontrol\w+|potwierdzeni\w+"
            r"|zabezpiecze\w+)"),
        (_SEND, "@|http|[redacted", rf"\b(?:wyślij\w*|prześlij\w*|przekaż|przelej|dodaj|skopiuj)\b{_G}{{0,90}}?(?<![='\"(]){_A}"),
    )),
    ("Russian and Ukrainian", r"(?:^|\s)(?:не|никогда|ніколи|нельзя|избегай\w*)(?:\s|$)", (
        (_IGNORE,
            "инструкц|правил|указан|команд|інструкц|вказівк|политик", _ordered(
            r"(?:про)?игнориру\w+|забудь\w*|отбрось\w*|пренебрег\w*|отмени\w*|обойди\w*|ігноруй\w*|проігноруй\w*",
            r"\bвсе\b|\bвсі\b|любые|предыдущ|прежн|попередн|систем|выше|\bсвои|остальн|другие",
            r"инструкц\w+|правил\w*|указан\w+|команд\w*|інструкц\w+|вказівк\w+|политик\w*")),
        ("!" + _CHECK,
            "подтвержд|проверк|разрешен|соглас|підтвердж|перевірк|одобрен",
            r"без\s+(?:запроса\s+|всякого\s+|всякой\s+|какого-либо\s+|предварительного\s+|ожидания\s+)?(?:подтвержд\w+|проверк\w+"
            r"|разрешени\w+|согласи\w+|одобрени\w+|підтвердж\w+|перевірк\w+)"),
        (_CHECK,
            "проверк|валидац|подтвержд|защит|безопасност|аутентификац|перевірк",
            r"(?:отключи\w*|выключи\w*|пропусти\w*|пропускай\w*|обойди\w*|вимкни\w*|пропусти\w*)[^.;\n]{0,30}(?:проверк\w+|валидац\w+"
            r"|подтвержден\w+|защит\w+|аутентификац\w+|перевірк\w+)"),
        (_POWER, "доступ|права|привилег|прав ",
            r"(?:предостав\w+|выда\w+|дай\w*|назначь\w*|надай\w*)[^.;\n]{0,40}(?:полный доступ|права администратора"
            r"|неограниченн\w+ доступ|root|все права|повний доступ)"),
        (_SEND, "@|http|[redacted",
            rf"(?:отправ\w+|перешли\w*|пересыла\w+|скопируй\w*|переведи\w*|добавь\w*|надішли\w*|надсила\w+){_G}{{0,90}}?(?<![='\"(]){_A}"),
        ("!" + _HUSH, "пользовател|клиент|никому",
            r"(?:не (?:говори\w*|сообщай\w*|уведомляй\w*)|без (?:уведомления|ведома))[^.;\n]{0,20}(?:пользовател|клиент|никому)"),
    )),
    ("Turkish", r"gelme|etme\b|yapma|yoksayma|asla", (
        (_IGNORE, "talimat|kural|yönerge|komut",
            rf"(?:önceki|tüm|bütün|sistem|diğer|yukarıdaki){_G}{{0,40}}(?:talimat\w*|kural\w*|yönerge\w*"
            rf"|komut\w*){_G}{{0,30}}?(?:yok ?say\w*|görmezden gel\w*|unut\w*|dikkate alma\w*|boş ?ver\w*)"),
        ("!" + _CHECK, "onay|doğrulama|izin|kontrol", r"(?:onay|doğrulama|izin|kontrol) (?:istemeden|almadan|beklemeden|yapmadan|olmadan)"),
        (_CHECK,
            "doğrulama|kontrol|güvenlik|onay",
            r"(?:doğrulama\w*|kontrol\w*|güvenlik\w*|onay\w*)[^.;\n]{0,30}(?:devre dışı bırak|atla\b|kapat|geç\b|atlayın)"),
        (_SEND, "@|[redacted", rf"{_A}{_G}{{0,40}}(?:gönder|ilet|ekle|aktar|kopyala)"),
    )),
    ("Chinese", r"不要|请勿|請勿|切勿|不得|不能|不可|别|別|勿|禁止|不应|避免|从不|拒绝|拒絕", (
        (_IGNORE,
            "指令|指示|规则|規則|提示|要求|命令|约束|限制|说明|規定|规定",
            r"(?:忽略|无视|無視|忽视|忽視|忘记|忘記|忘掉|不再遵守|绕过|繞過|抛开|覆盖|推翻)[^。；\n]{0,12}?(?:之前|以前|先前"
            r"|前面|以上|上述|上面|所有|一切|全部|任何|其他|系统|系統|原有|你的|您的)[^。；\n]{0,12}?(?:指令|指示|规则|規則"
            r"|提示|要求|命令|约束|限制|说明|規定|规定)"),
        ("!" + _CHECK,
            "确认|確認|验证|驗證|审批|批准|核实|同意|授权|检查",
            r"(?:无需|無需|不需要|不用|不必|未经|未經|毋须)[^。；，\n]{0,8}?(?:用户|用戶|客户|人工|再次|任何|安全|身份|所有"
            r"|的|进行|外键)*(?:确认|確認|验证|驗證|审批|審批|批准|核实|核實|同意|授权|授權|检查|檢查|审核|校验)(?!码|碼|邮件"
            r"|郵件)"),
        (_CHECK,
            "确认|確認|验证|驗證|审批|批准|核实|授权|检查|校验|审核|防火墙",
            r"(?:跳过|跳過|略过|绕过|繞過|关闭|關閉|禁用|停用|取消|忽略)[^。；，\n]{0,8}?(?:用户|用戶|客户|人工|任何|安全"
            r"|身份|所有|的|外键)*(?:确认|確認|验证|驗證|审批|審批|核实|核實|授权|授權|检查|檢查|审核|校验|防火墙)(?!码|碼|邮件"
            r"|郵件)"),
        (_POWER, "权限|權限|访问",
            r"(?:授予|赋予|賦予|给予|給予|开放|提升)[^。；\n]{0,16}?(?:管理员|管理員|最高|全部|所有|完全|无限"
            r"|root)[^。；\n]{0,6}?(?:权限|權限|访问权|控制权)"),
        (_SEND, "@|http|[redacted",
            rf"(?:发送|發送|转发|轉發|抄送|寄给|发到|发给|上传|上傳|汇款|转账|复制|添加){_G}{{0,40}}?(?<![='\"(]){_A}"
            rf"|(?<![='\"(]){_A}[^。；\n]{{0,12}}(?:作为|添加为|加为)(?:收件人|抄送)"),
        ("!" + _HUSH, "用户|用戶|客户|任何人",
            r"(?:不要|别|別|勿|不必|无需)(?:告诉|告訴|告知|通知|提醒)[^。；\n]{0,6}(?:用户|用戶|客户|任何人|管理员)(?:[。；！\n]"
            r"|$|这|此|關|关)"),
    )),
    ("Japanese", r"しない|せず|しては(?:いけ|なら)|禁止|ないで|拒否|するな", (
        (_IGNORE, "指示|命令|ルール|規則|プロンプト|制約|指針",
            r"(?:以前|前|これまで|上記|すべて|全て|全|他|システム|既存|今まで)[^。\n]{0,14}?(?:指示|命令|ルール|規則|プロンプト"
            r"|制約|指針)[^。\n]{0,8}?(?:無視|忘れ|破棄|従わない|従わず)"),
        ("!" + _CHECK, "確認|検証|承認|許可|認証|チェック",
            r"(?:確認|検証|承認|許可|認証|チェック|レビュー)(?:を|は)?(?:取ら|得|求め|待た|し|せ)?(?:なしに|なしで|ずに|無しで)"),
        (_CHECK, "確認|検証|承認|許可|認証|チェック",
            r"(?:確認|検証|承認|許可|認証|チェック|レビュー)(?:手順|ステップ)?(?:を|は)(?:省略|スキップ|無効に|無効化|回避"
            r"|飛ばし)[^。\n]{0,6}"),
        (_POWER, "権限|アクセス",
            r"(?:管理者|すべての|全ての|完全な|root|フル)(?:権限|アクセス権?|アクセス)[^。\n]{0,8}?(?:与え|付与|許可)"),
        (_SEND, "@|http|[redacted", rf"{_A}[^。\n]{{0,14}}?(?:送信|転送|送って|送る|cc|bcc|追加|振り込)"),
        ("!" + _HUSH, "ユーザー|顧客|誰に",
            r"(?:ユーザー|顧客|利用者|誰)に(?:は|も)?[^。\n]{0,8}?(?:知らせ(?:ず|ない)|言わ(?:ず|ない)|伝え(?:ず|ない)"
            r"|教え(?:ず|ない)|通知し(?:ない|ず)|通知せず|秘密)"),
    )),
    ("Korean", r"하지\s*마|지\s*마세요|말\s*것|금지|않", (
        (_IGNORE, "지시|명령|규칙|지침|프롬프트|제약",
            r"(?:이전|앞선|위의|모든|기존|다른|시스템|지금까지)[^.\n]{0,20}?(?:지시|명령|규칙|지침|프롬프트"
            r"|제약)[^.\n]{0,10}?(?:무시|잊|따르지)"),
        ("!" + _CHECK, "확인|검증|승인|허가|동의|인증|검사",
            r"(?:확인|검증|승인|허가|동의|인증|검사|검토)(?:을|를|절차를|단계를)?\s*(?:없이|(?:하지|받지)\s*말고)"),
        (_CHECK, "확인|검증|승인|허가|인증|검사",
            r"(?:확인|검증|승인|허가|인증|검사|검토)\s*(?:절차|단계|과정)?(?:을|를)?\s*(?:생략|건너뛰|비활성화|끄)[^.\n]{0,8}"),
        (_POWER, "권한", r"(?:관리자|모든|전체|최고|루트)\s*(?:접근\s*)?권한[^.\n]{0,10}?(?:부여|허용|줘|주어|주세요)"),
        (_SEND, "@|http|[redacted", rf"{_A}[^.\n]{{0,14}}?(?:보내|전송|전달|추가|참조|송금|이체)"),
        ("!" + _HUSH, "사용자|고객|아무", r"(?:사용자|고객|아무)(?:에게|한테|에게도|에게는)?[^.\n]{0,10}?(?:알리지|말하지|통지하지)"),
    )),
    ("Arabic", r"(?:^|\s)(?:لا|لن|ابدا|تجنب|ليس)(?:\s|$)", (
        (_IGNORE, "تعليمات|قواعد|اوامر|توجيهات",
            r"(?:تجاهل|انس|اهمل|تخط)\w*[^.\n]{0,30}?(?:تعليمات|القواعد|قواعد|الاوامر|اوامر|توجيهات|التوجيهات|التعليمات)"),
        ("!" + _CHECK, "تاكيد|تحقق|موافقة|اذن",
            r"(?:دون|بدون|من دون)\s+(?:طلب\s+|اي\s+|انتظار\s+)?(?:ال)?(?:تاكيد|تحقق|موافقة|اذن|مراجعة)"),
        (_CHECK, "تحقق|تاكيد|حماية|مصادقة", r"(?:عطل|اوقف|تخط|تجاوز|الغ)\w*\s[^.\n]{0,20}?(?:التحقق|التاكيد|الحماية|المصادقة|الفحص)"),
        (_POWER, "صلاحيات|وصول", r"(?:امنح|اعط)\w*\s[^.\n]{0,30}?(?:صلاحيات|وصول|الوصول)"),
        (_SEND, "@|http|[redacted", rf"(?:ارسل|ابعث|حول|انسخ|اضف)\w*[^.\n]{{0,60}}?{_A}"),
    )),
    ("Hindi", r"(?:^|\s)(?:न|मत|नहीं|कभी)(?:\s|$)", (
        (_IGNORE, "निर्देश|नियम|आदेश",
            r"(?:पिछले|सभी|पहले|सारे|सिस्टम)[^।\n]{0,30}?(?:निर्देश\S*|नियम\S*|आदेश\S*)[^।\n]{0,20}?(?:अनदेखा|नज़रअंदाज|भूल|उपेक्षा"
            r"|इग्नोर)"),
        ("!" + _CHECK,
            "पुष्टि|सत्यापन|अनुमति|जांच|मंजूरी",
            r"(?:पुष्टि|सत्यापन|अनुमति|जांच|मंजूरी)\s*(?:के|किए|लिए|मांगे)?\s*(?:बिना|बगैर)|बिना\s+(?:किसी\s+)?(?:पुष्टि|सत्यापन|अनुमति"
            r"|जांच|मंजूरी)"),
        (_SEND, "@|[redacted", rf"{_A}[^।\n]{{0,20}}?(?:भेज|जोड़|फॉरवर्ड)"),
    )),
    ("Indonesian and Malay", r"\b(?:jangan|tidak|tanpa pernah|dilarang)\b", (
        (_IGNORE,
            "instruksi|aturan|perintah|arahan|peraturan", _ordered(
            r"\b(?:abaikan|lupakan|hiraukan|langgar|kesampingkan)\b",
            r"semua|sebelum|sistem|terdahulu|lain|di atas", r"instruksi|aturan|perintah|arahan|peraturan")),
        ("!" + _CHECK,
            "konfirmasi|verifikasi|persetujuan|izin|pengesahan",
            r"\btanpa (?:meminta |menunggu |perlu )?(?:konfirmasi|verifikasi|persetujuan|izin|pengesahan)"),
        (_CHECK,
            "verifikasi|validasi|pemeriksaan|konfirmasi|keamanan",
            r"\b(?:lewati|nonaktifkan|matikan|abaikan)\b[^.;\n]{0,25}(?:verifikasi|validasi|pemeriksaan|konfirmasi|keamanan)"),
        (_SEND, "@|http|[redacted", rf"\b(?:kirim\w*|teruskan|salin|transfer|tambahkan|hantar)\b{_G}{{0,90}}?(?<![='\"(]){_A}"),
    )),
    ("Vietnamese", r"\b(?:không|đừng|chớ|tránh)\b", (
        (_IGNORE,
            "hướng dẫn|chỉ dẫn|quy tắc|lệnh|chỉ thị", _ordered(
            r"\b(?:bỏ qua|phớt lờ|quên|mặc kệ)\b",
            r"tất cả|mọi|trước|hệ thống|khác|ở trên", r"hướng dẫn|chỉ dẫn|quy tắc|lệnh|chỉ thị")),
        ("!" + _CHECK,
            "xác nhận|xác minh|phê duyệt|kiểm tra|cho phép",
            r"(?:mà không cần|không cần|chẳng cần)\s+(?:bước\s+|hỏi\s+|sự\s+|việc\s+)*(?:xác nhận|xác minh|phê duyệt|kiểm tra|cho phép)"),
        (_CHECK,
            "xác nhận|xác minh|phê duyệt|kiểm tra",
            r"\b(?:bỏ qua|tắt|vô hiệu hóa)\s+(?:bước\s+|việc\s+)*(?:xác nhận|xác minh|phê duyệt|kiểm tra)"),
        (_SEND, "@|http|[redacted", rf"\b(?:gửi|chuyển tiếp|chuyển khoản|sao chép|thêm)\b{_G}{{0,90}}?(?<![='\"(]){_A}"),
    )),
)
# fmt: on


@cache
def foreign_patterns(*, ascii_only: bool = False) -> tuple[tuple[Foreign, ...], frozenset[str]]:
    """All patterns in folded form, and their stems; made when first needed, because folding them takes some milliseconds.

    Args:
        ascii_only: leave out what cannot occur in a text of ASCII characters.
    """
    made = [
        Foreign(
            rule=rule.removeprefix("!"),
            stems=frozenset(stem for stem in _fold(stems).split("|") if stem.isascii() or not ascii_only),
            pattern=_fold(pattern),
            negation="" if rule.startswith("!") else _fold(negations),
            denial=_fold(negations),
        )
        for _, negations, patterns in _LANGUAGES
        for rule, stems, pattern in patterns
        if not ascii_only
        or any(c in "abcdefghijklmnopqrstuvwxyz" for c in _fold(stems).replace("http", "").replace("[redacted", ""))
        or (rule == _SEND and any(c in "abcdefghijklmnopqrstuvwxyz" for c in _fold(negations).replace("\\b", "")))
    ]
    return tuple(one for one in made if one.stems), frozenset().union(*(one.stems for one in made))
